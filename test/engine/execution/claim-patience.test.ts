// How long a claim waits for work, by the real clock.
import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { worker } from './holder.ts'

test('a claim waits for work, and a create of the same engine wakes it', async () => {
  const { engine } = await setup()
  const waiting = engine.executions.claim({ ...worker, wait: '1m' })
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect((await waiting).claims).toMatchObject([{ executionId }])
})

test('a waiting claim gives up at its timeout, or when its signal aborts', async () => {
  const { engine } = await setup()
  expect(await engine.executions.claim({ ...worker, wait: 20 })).toEqual({ claims: [], more: false })
  const stop = new AbortController()
  const waiting = engine.executions.claim({ ...worker, wait: '1h', signal: stop.signal })
  stop.abort()
  expect(await waiting).toEqual({ claims: [], more: false })
  expect(await engine.executions.claim({ ...worker, wait: '1h', signal: AbortSignal.abort() })).toMatchObject({
    claims: [],
  })
})
