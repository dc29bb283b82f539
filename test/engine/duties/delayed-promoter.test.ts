import { expect, test } from 'vitest'
import { delayedPromoter } from '../../../src/engine/duties/delayed-promoter.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimed, claimNext, fenceOf } from './claimed.ts'
import * as stored from '../../support/stored.ts'

test('DELAY-01 a due delay makes the execution eligible and changes no other field', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', delay: '1m', priority: 7 })
  const before = await engine.executions.describe(executionId)
  await clock.advance('2m')
  expect(await delayedPromoter.runOnce(sql)).toMatchObject({ processed: 1, errors: 0, isFull: false })
  const after = await engine.executions.describe(executionId)
  expect(after).toEqual({
    ...before,
    publicState: 'waiting',
    state: { ...before!.state, eligibilityState: 'eligible_now' },
    blockingReason: 'waiting_for_worker',
    blockingDetail: "waiting for a worker on lane 'default'",
    delayUntil: null,
    lastMutationAt: after!.lastMutationAt,
  })
  expect(await claimNext(engine)).toMatchObject({ executionId, reason: 'first' })
})

test('DELAY-02 a delay is due at its very millisecond', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  await factory(sql).delayed({ until: await clock.now() })
  expect(await delayedPromoter.runOnce(sql)).toMatchObject({ processed: 1 })
})

test('DELAY-03 a delay that ends a millisecond later stays', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  await factory(sql).delayed({ until: (await clock.now()) + 1 })
  expect(await withoutWriting(sql, () => delayedPromoter.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
})

test('DELAY-04 DELAY-06 only delayed executions are promoted, whatever other times have passed', async () => {
  const { sql, clock } = await setup()
  const given = factory(sql)
  const past = { deadlineAt: (await clock.now()) - 1000 }
  await given.waiting(past)
  await given.active(past)
  await given.suspended(past)
  await given.blocked(past)
  await given.rateLimited(past)
  await given.heldByOperator(past)
  await given.completed()
  await given.cancelled()
  expect(await withoutWriting(sql, () => delayedPromoter.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
})

test("DELAY-07 a retry's wait ends in a claim of the next attempt, never before its back-off", async () => {
  const { engine, sql, clock } = await setup()
  const policy = { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 10_000 } } } as const
  const claim = await claimed(engine, { policy })
  await clock.freeze()
  await engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })
  await clock.advance(9999)
  expect(await delayedPromoter.runOnce(sql)).toMatchObject({ processed: 0 })
  expect(await claimNext(engine)).toBeUndefined()
  await clock.advance(1)
  expect(await delayedPromoter.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await claimNext(engine)).toMatchObject({ attemptIndex: 1, reason: 'retry' })
})

test('a delay by the holder continues the same attempt', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine)
  await engine.executions.delay({ ...fenceOf(claim), for: '1h' })
  await clock.advance('1h')
  expect(await delayedPromoter.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await stored.executions.pick(sql, ['interruption', 'attempt_state'])).toEqual([
    { interruption: 'delayed', attempt_state: 'attempt_interrupted' },
  ])
  expect(await claimNext(engine)).toMatchObject({ attemptIndex: 0, reason: 'resume', leaseEpoch: 2 })
})

test('an execution that was resumed before its delay is ready as resumed', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).retrying({ until: 1 })
  await stored.executions.change(sql, {
    attempt_state: 'attempt_interrupted',
    interruption: 'signalled',
    retry_count: 0,
  })
  expect(await delayedPromoter.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await stored.ready.pick(sql, ['resumed'])).toEqual([{ resumed: true }])
  expect((await engine.executions.describe(executionId))?.publicState).toBe('resumable')
})

test('the promoter notifies the queues into which it put executions', async () => {
  const { sql } = await setup()
  await factory(sql).delayed({ until: 1, lane: 'a' })
  await factory(sql).delayed({ until: 1, lane: 'b' })
  const { effects } = await delayedPromoter.runOnce(sql)
  const queues = await stored.queues.pick(sql, ['queue_id'])
  expect(effects.readyQueueIds?.toSorted()).toEqual(queues.map((queue) => queue['queue_id']))
})
