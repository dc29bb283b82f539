// The same request id twice, from a caller that does not know whether the first call succeeded.
import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { walk } from '../flow/walk.ts'
import { suspend, waiting } from '../waiting/suspension/waiting.ts'
import { fenceOf, held, take } from './holder.ts'

const requestId = 'deploy 7: unblock'

test('a revoke with the same request id returns the first answer, whichever worker has the lease since', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await held(engine)
  const first = await engine.leases.revoke({ executionId, requestId })
  expect(first).toMatchObject({ kind: 'revoked', leaseEpoch: 1 })
  await take(engine, { workerInstanceId: 'w-2' })
  await withoutWriting(sql, async () => expect(await engine.leases.revoke({ executionId, requestId })).toEqual(first))
  expect(await engine.leases.revoke({ executionId, requestId: 'another' })).toMatchObject({ leaseEpoch: 2 })
})

test('a revoke that ended an execution with a stop request returns that again', async () => {
  const { engine } = await setup()
  const { executionId } = await held(engine)
  await engine.executions.cancel({ executionId, grace: '1m' })
  const first = await engine.leases.revoke({ executionId, requestId })
  expect(first).toEqual({ kind: 'cancelled', executionId })
  expect(await engine.leases.revoke({ executionId, requestId })).toEqual(first)
})

test('a resume with the same request id returns the first answer, and wakes no later suspension', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const { executionId } = (await waiting(engine, { condition: { kind: 'operator' } })).claim
  const first = await engine.executions.resume({ executionId, requestId })
  await suspend(engine, await take(engine), { condition: { kind: 'operator' } })
  await withoutWriting(sql, async () => {
    expect(await engine.executions.resume({ executionId, requestId })).toEqual(first)
  })
  const later = await engine.executions.resume({ executionId, requestId: 'another', delay: '5m' })
  expect(later.delayUntil).toBe((await clock.now()) + 300_000)
  await clock.advance('1m')
  expect(await engine.executions.resume({ executionId, requestId: 'another', delay: '5m' })).toEqual(later)
})

test('a replay with the same request id returns the first answer, though the execution has run and ended since', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  await engine.executions.complete(fenceOf(claim))
  const first = await engine.executions.replay({ executionId, requestId })
  await engine.executions.complete(fenceOf(await take(engine)))
  await withoutWriting(sql, async () => {
    expect(await engine.executions.replay({ executionId, requestId })).toEqual(first)
  })
  expect(await engine.executions.replay({ executionId })).toMatchObject({ generation: 2, replayCount: 2 })
})

test("a replay of a flow's member with the same request id returns the first answer too", async () => {
  const fixture = await setup()
  const { executions } = fixture.engine
  const flow = await walk(fixture, { edges: ['a > b'] })
  await flow.end('a', 'failed')
  const first = await executions.replay({ executionId: flow.id('a'), requestId })
  expect(first).toMatchObject({ kind: 'replayed', reopened: [flow.id('b')] })
  expect(await executions.replay({ executionId: flow.id('a'), requestId })).toEqual(first)
  await flow.end('a')
  expect(await executions.replay({ executionId: flow.id('a'), requestId })).toEqual(first)
})

test('a call that was refused is not remembered', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect(await engine.leases.revoke({ executionId, requestId })).toMatchObject({ kind: 'not_held' })
  await take(engine)
  expect(await engine.leases.revoke({ executionId, requestId })).toMatchObject({ kind: 'revoked' })
})

test('the same request id for another execution is another request', async () => {
  const { engine } = await setup()
  const [one, two] = [await held(engine), await held(engine)]
  for (const { executionId } of [one, two]) {
    expect(await engine.leases.revoke({ executionId, requestId })).toMatchObject({ kind: 'revoked', executionId })
  }
})

test.each(['', 'x'.repeat(129), 'a\nb', 7 as never])('%j is refused as a request id', async (wrong) => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await refusal('invalid_input', engine.leases.revoke({ executionId, requestId: wrong }))
  await refusal('invalid_input', engine.executions.resume({ executionId, requestId: wrong }))
  await refusal('invalid_input', engine.executions.replay({ executionId, requestId: wrong }))
})
