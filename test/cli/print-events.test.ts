import { expect, test } from 'vitest'
import { Cli } from '../../src/cli/cli.ts'
import { printEvents } from '../../src/cli/print-events.ts'
import { interruptible, typing } from './typed.ts'

test('dev uses the same words for states as list', async () => {
  const { engine } = await typing()
  let out = ''
  const stdout = { write: (text: string) => void (out += text) }
  const { signal } = interruptible()
  const telling = printEvents(new Cli({ stdout, stderr: stdout, env: { NO_COLOR: '1' } }), engine, signal)
  const stateOf = async (id: string): Promise<string> => (await engine.executions.describe(id))!.publicState
  const retry = { attempts: 2, backoff: { type: 'fixed', delayMs: 60_000 } } as const
  const { executionId: retried } = await engine.executions.create({ kind: 'flaky', policy: { retry } })
  const { executionId: done } = await engine.executions.create({ kind: 'quick' })
  const { executionId: gone } = await engine.executions.create({ kind: 'late', delay: '1h' })
  const words = new Map<string, string[]>()
  const printed = async (id: string): Promise<void> => {
    words.set(id, [...(words.get(id) ?? []), await stateOf(id)])
    const uuid = id.slice(id.indexOf(':', 4) + 1)
    const seen = (): string[] =>
      out
        .split('\n')
        .filter((line) => line.includes(uuid))
        .map((line) => line.split(/ {2,}/)[2]!)
    await expect.poll(seen).toEqual(words.get(id))
  }
  await expect
    .poll(async () => {
      const { executionId } = await engine.executions.create({ kind: 'probe', delay: '1h' })
      await engine.executions.cancel({ executionId })
      return out
    })
    .toContain('probe')
  const held = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
  const { claims } = await engine.executions.claim({ ...held, max: 10 })
  expect(claims).toHaveLength(2)
  const fenceOf = (id: string) => {
    const { executionId, leaseId, leaseEpoch } = claims.find((claim) => claim.executionId === id)!
    return { executionId, leaseId, leaseEpoch }
  }
  await printed(retried)
  await printed(done)
  await engine.executions.complete(fenceOf(done))
  await printed(done)
  await engine.executions.fail({ ...fenceOf(retried), reason: 'the bank said no', category: 'transient' })
  await printed(retried)
  await engine.executions.cancel({ executionId: gone })
  await printed(gone)
  expect([...words.values()].flat()).toEqual(['active', 'delayed', 'active', 'completed', 'cancelled'])
  expect(out).toContain('to retry: the bank said no')
  expect(out).not.toMatch(/acquired|success|retried/)
  void telling
})
