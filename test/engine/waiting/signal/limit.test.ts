// How many signals a generation may receive. Records that a restart carries along only for their keys do not count.
import { expect, test } from 'vitest'
import type { Engine } from '../../../../src/engine/contract.ts'
import { createEngine } from '../../../../src/engine/engine.ts'
import type { Fence } from '../../../../src/engine/transition/fence.ts'
import { suspensionTimeout } from '../../../../src/engine/duties/suspension-timeout.ts'
import { around } from '../../../../src/sql/around.ts'
import type { Sql } from '../../../../src/sql/sql.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { fenceOf, held, take } from '../../execution/holder.ts'

const forGo = { kind: 'signal', name: 'go' } as const
const policy = { maxSignalCount: 3 }

function sender({ signals }: Engine, executionId: string) {
  return async (idempotencyKey: string) => (await signals.send({ executionId, name: 'go', idempotencyKey })).kind
}

async function takeOne({ executions }: Engine, fence: Fence): Promise<void> {
  expect(await executions.trySuspend({ ...fence, condition: forGo })).toMatchObject({ kind: 'already_satisfied' })
}

test('SIG-08 an execution that restarts never runs out of signals: those taken before count no more, though their keys still hold', async () => {
  const { engine } = await setup()
  let fence = fenceOf(await held(engine, { policy }))
  const send = sender(engine, fence.executionId)
  for (let generation = 0; generation < 4; generation += 1) {
    for (const key of ['a', 'b', 'c']) expect(await send(`${generation} ${key}`)).toBe('accepted')
    await refusal('signal_limit_exceeded', send(`${generation} d`))
    for (let count = 0; count < 3; count += 1) await takeOne(engine, fence)
    await engine.executions.restart(fence)
    for (let earlier = 0; earlier <= generation; earlier += 1) expect(await send(`${earlier} b`)).toBe('duplicate')
    fence = fenceOf(await take(engine))
  }
  expect((await engine.signals.list(fence.executionId)).signals).toHaveLength(12)
})

test('SIG-08 signals that no wait had taken are carried over a restart and count, until they are taken and the next restart comes', async () => {
  const { engine } = await setup()
  const first = fenceOf(await held(engine, { policy }))
  const send = sender(engine, first.executionId)
  for (const key of ['a', 'b', 'c']) await send(key)
  await takeOne(engine, first)
  await engine.executions.restart(first)
  expect(await send('d')).toBe('accepted')
  await refusal('signal_limit_exceeded', send('e'))
  const second = fenceOf(await take(engine))
  for (let count = 0; count < 3; count += 1) await takeOne(engine, second)
  await refusal('signal_limit_exceeded', send('e'))
  await engine.executions.restart(second)
  for (const key of ['e', 'f', 'g']) expect(await send(key)).toBe('accepted')
  await refusal('signal_limit_exceeded', send('h'))
})

test('SIG-08 signals that are carried over a restart count, whatever came after them', async () => {
  const { engine } = await setup()
  const fence = fenceOf(await held(engine, { policy }))
  const send = sender(engine, fence.executionId)
  await send('a')
  const { waitpointId, token } = await engine.waitpoints.create({ ...fence, key: 'door' })
  await engine.signals.deliver({ waitpointId, token, name: 'yes', idempotencyKey: 'a' })
  await engine.executions.restart(fence)
  for (const key of ['b', 'c']) expect(await send(key)).toBe('accepted')
  await refusal('signal_limit_exceeded', send('d'))
  expect(await send('a')).toBe('duplicate')
})

test('SIG-08 a key that a replay has freed stays free over a restart', async () => {
  const { engine } = await setup()
  const first = fenceOf(await held(engine, { policy }))
  const { executionId } = first
  const send = sender(engine, executionId)
  await send('a')
  await takeOne(engine, first)
  await engine.executions.complete(first)
  await engine.executions.replay({ executionId })
  await engine.executions.restart(fenceOf(await take(engine)))
  for (const key of ['a', 'b', 'c']) expect(await send(key)).toBe('accepted')
  await refusal('signal_limit_exceeded', send('d'))
})

test('SIG-08 a timeout that resumes is counted, and every signal after it', async () => {
  const { engine, clock, sql } = await setup()
  const fence = fenceOf(await held(engine, { policy }))
  const send = sender(engine, fence.executionId)
  const waiting = { condition: { kind: 'operator' }, timeout: '10s' } as const
  await engine.executions.suspend({ ...fence, ...waiting, timeoutBehaviour: 'auto_resume_with_timeout_signal' })
  await clock.advance('11s')
  await suspensionTimeout.runOnce(sql)
  for (const key of ['a', 'b']) expect(await send(key)).toBe('accepted')
  await refusal('signal_limit_exceeded', send('c'))
})

test('SIG-08 after a restart a signal that ends a wait is settled as before', async () => {
  const { sql } = await setup()
  const sent: string[] = []
  const engine = createEngine(watched(sql, sent))
  const first = fenceOf(await held(engine, { policy: { maxSignalCount: 1 } }))
  const send = sender(engine, first.executionId)
  await send('a')
  await takeOne(engine, first)
  await engine.executions.restart(first)
  await engine.executions.suspend({ ...fenceOf(await take(engine)), condition: forGo })
  // Another process has not seen yet that there was nothing to end.
  const fresh = sender(createEngine(watched(sql, sent)), first.executionId)
  sent.length = 0
  expect(await fresh('b')).toBe('accepted')
  expect(sent).toContain('signal.settle')
  expect(sent).not.toContain('signal.read-locked')
  expect((await take(engine)).resumption?.signals).toMatchObject([{ name: 'go' }])
})

function watched(sql: Sql, sent: string[]): Sql {
  return {
    ...around(sql, (ask) => ask()),
    pipeline(calls, options) {
      sent.push(...calls.map(({ statement }) => statement.name))
      return sql.pipeline(calls, options)
    },
    decide(reads, decide, options) {
      sent.push(...reads.map(({ statement }) => statement.name))
      return sql.decide(reads, decide, options)
    },
  }
}
