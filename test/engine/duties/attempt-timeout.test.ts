import { expect, test } from 'vitest'
import { attemptTimeout } from '../../../src/engine/duties/attempt-timeout.ts'
import { parseExecutionId } from '../../../src/model/id.ts'
import type { PolicyInput } from '../../../src/model/policy.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimed, claimNext, fenceOf } from './claimed.ts'
import { bySets } from '../../../src/model/sets.ts'
import * as stored from '../../support/stored.ts'

const retried = (attempts: number, delayMs = 0): PolicyInput => ({
  attemptTimeoutMs: '10s',
  retry: { attempts, backoff: { type: 'fixed', delayMs } },
})

test('DEAD-01 an attempt that took too long is retried by its policy, though it was renewed', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine, { policy: retried(4) }, { leaseTtl: '1h' })
  await clock.advance('10s')
  await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [fenceOf(claim)], leaseTtl: '1h' })
  await clock.advance('1s')
  const { effects, ...report } = await attemptTimeout.runOnce(sql)
  const { uuid } = parseExecutionId(claim.executionId)
  expect(report).toEqual({ processed: 1, errors: 0, isFull: false })
  expect(effects.stoppedRunIds).toEqual([uuid])
  expect(effects.readyQueueIds).toHaveLength(1)
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'waiting',
    retryCount: 1,
    lease: null,
    state: { eligibilityState: 'eligible_now', attemptState: 'pending_retry_attempt' },
  })
  expect(await stored.attempts.pick(sql, ['attempt_index', 'outcome', 'failure_reason', 'failure_category'])).toEqual([
    { attempt_index: 0, outcome: 'timed_out', failure_reason: 'attempt_timeout', failure_category: 'timeout' },
  ])
  const events = await stored.leaseEvents.pick(sql, ['event_type', 'reason'])
  expect(events.at(-1)).toEqual({ event_type: 'expired', reason: 'attempt_timeout' })
  expect(await stored.endings.all(sql)).toEqual([])
  await refusal('stale_lease', engine.executions.complete(fenceOf(claim)))
  expect(await claimNext(engine)).toMatchObject({ attemptIndex: 1, reason: 'retry', leaseEpoch: 2 })
})

test('a retry after a timeout waits for its back-off', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await claimed(engine, { policy: retried(2, 5000) })
  await clock.advance('11s')
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 1, effects: { readyQueueIds: [] } })
  const execution = await engine.executions.describe(executionId)
  expect(execution?.publicState).toBe('delayed')
  expect(execution!.delayUntil! - execution!.lastMutationAt).toBe(5000)
})

test.each([
  ['without a retry policy', { attemptTimeoutMs: '10s' } as const],
  ['with one attempt', retried(1)],
  [
    'when timeouts are not retried',
    { attemptTimeoutMs: '10s', retry: { attempts: 3, categories: ['transient'] } } as const,
  ],
])('DEAD-02 an attempt timeout %s ends the execution as expired', async (_, policy: PolicyInput) => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await claimed(engine, { policy })
  await clock.advance('11s')
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'expired',
    failureReason: 'attempt_timeout',
    state: { attemptState: 'attempt_terminal' },
  })
  expect(await stored.endings.pick(sql, ['outcome', 'reason'])).toEqual([
    { outcome: 'expired', reason: 'attempt_timeout' },
  ])
  const events = await stored.leaseEvents.pick(sql, ['event_type', 'reason'])
  expect(events.at(-1)).toEqual({ event_type: 'expired', reason: 'attempt_timeout' })
})

test('DEAD-03 only running attempts time out: the timer ends with the lease', async () => {
  const { engine, sql, clock } = await setup()
  const given = factory(sql)
  await given.suspended()
  await given.waiting({ lane: 'other' })
  await given.completed()
  const released = await claimed(engine, { policy: retried(3) })
  await engine.executions.release(fenceOf(released))
  const failed = await claimNext(engine)
  await engine.executions.fail({ ...fenceOf(failed!), reason: 'broke' })
  await clock.advance('1h')
  expect(await withoutWriting(sql, () => attemptTimeout.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
})

test('the timeout covers one lease: it starts again with each claim, and expires strictly after its time', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const first = await claimed(engine, { policy: retried(3) })
  await clock.advance('9s')
  await engine.executions.release(fenceOf(first))
  const second = await claimNext(engine)
  expect(second!.attemptDeadlineAt).toBe((await clock.now()) + 10_000)
  await clock.advance('10s')
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 1 })
})

test('DEAD-04 timeouts count against the retries', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await claimed(engine, { policy: retried(3) })
  for (const state of ['waiting', 'waiting', 'expired']) {
    await clock.advance('11s')
    await attemptTimeout.runOnce(sql)
    expect((await engine.executions.describe(executionId))?.publicState).toBe(state)
    await claimNext(engine)
  }
  expect(await stored.attempts.pick(sql, ['outcome'], {}, 'attempt_index')).toEqual([
    { outcome: 'timed_out' },
    { outcome: 'timed_out' },
    { outcome: 'expired' },
  ])
})

test('a timeout that would be retried ends cancelled when a cancel was requested', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await claimed(engine, { policy: retried(3) })
  await engine.executions.cancel({ executionId, grace: '1h' })
  await clock.advance('11s')
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 1 })
  expect((await engine.executions.describe(executionId))?.publicState).toBe('cancelled')
})

test('DEAD-09 one run of the duty takes a thousand at most, the oldest first, and the next run the others', async () => {
  const { engine, sql, clock } = await setup()
  const request = { kind: 'k', policy: { attemptTimeoutMs: '10s' } } as const
  await bySets(
    Array.from({ length: 1500 }, () => request),
    (set) => engine.executions.createMany(set),
  )
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
  const { claims } = await engine.executions.claim({ ...worker, max: 1000 })
  const oldest = Math.max(...claims.map((claim) => claim.attemptDeadlineAt!))
  await clock.advance('1s')
  await engine.executions.claim({ ...worker, max: 1000 })
  await clock.advance('1m')
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 1000, errors: 0, isFull: true })
  const left = await stored.executions.pick(sql, ['attempt_deadline_at_ms'], { lifecycle_phase: 'active' })
  expect(left).toHaveLength(500)
  expect(left.filter((row) => row.attempt_deadline_at_ms! > oldest)).toHaveLength(500)
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 500, errors: 0, isFull: false })
  expect((await engine.executions.countByState()).expired).toMatchObject({ count: 1500 })
})

test('DEAD-10 timeouts keep to the filter', async () => {
  const { engine, sql, clock } = await setup()
  const policy = { attemptTimeoutMs: '10s' } as const
  const ours = await claimed(engine, { namespace: 'a', policy })
  const theirs = await claimed(engine, { namespace: 'b', policy })
  await clock.advance('11s')
  expect(await attemptTimeout.runOnce(sql, { filter: { namespace: 'a' } })).toMatchObject({ processed: 1 })
  expect((await engine.executions.describe(ours.executionId))?.publicState).toBe('expired')
  expect((await engine.executions.describe(theirs.executionId))?.publicState).toBe('active')
})
