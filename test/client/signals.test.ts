// Listeners that waiting calls leave on signals that live as long as the process.
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { front } from './front.ts'

test('calls that wait leave no listener on the signal that could have ended them, and it ends them', async () => {
  const { client } = await front()
  const lifelong = new AbortController()
  const claim = { workerId: 'w', workerInstanceId: 'w', lanes: ['default'], signal: lifelong.signal }
  for (let count = 0; count < 3; count += 1) await client.engine.executions.claim({ ...claim, wait: 1 })
  expect(getEventListeners(lifelong.signal, 'abort')).toEqual([])
  expect(dependentsOf(lifelong.signal)).toBe(0)
  const waiting = client.engine.executions.claim({ ...claim, wait: '1m' })
  lifelong.abort(new Error('enough'))
  await expect(waiting).resolves.toMatchObject({ claims: [] })
})

test('an answer may take longer than a timer allows', async () => {
  const { client } = await front({ timeoutMs: 40 * 24 * 3_600_000 })
  expect(await client.engine.serverTime()).toBeGreaterThan(0)
})

/** The signals derived by AbortSignal.any: Node keeps them with the signal. */
function dependentsOf(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find((symbol) => symbol.description === 'kDependantSignals')
  const found = key === undefined ? undefined : (signal as never as Record<symbol, Set<unknown> | undefined>)[key]
  return found?.size ?? 0
}
