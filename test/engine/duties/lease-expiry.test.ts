import { expect, test } from 'vitest'
import { delayedPromoter } from '../../../src/engine/duties/delayed-promoter.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimed, claimNext, fenceOf } from './claimed.ts'
import * as stored from '../../support/stored.ts'
import { forget } from '../../support/changes.ts'

test('LEASE-07 only leases strictly before now expire, the oldest first, a limited number at a time', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const given = factory(sql)
  const kept = [await given.active({ expiresAt: now }), await given.active({ expiresAt: now + 1 })]
  const late = await given.active({ expiresAt: now - 1 })
  const oldest = await given.active({ expiresAt: now - 1000 })
  expect(await leaseExpiry.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 1, errors: 0, isFull: true })
  expect((await engine.executions.describe(oldest))?.publicState).toBe('waiting')
  expect((await engine.executions.describe(late))?.publicState).toBe('active')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0, isFull: false })
  expect((await engine.executions.describe(late))?.publicState).toBe('waiting')
  for (const id of kept) expect((await engine.executions.describe(id))?.publicState).toBe('active')
})

test('LEASE-08 an expiry returns the execution to the queue with its attempt, and is counted and recorded', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine, {}, { leaseTtl: '10s' })
  await clock.advance('11s')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'waiting',
    lease: null,
    leaseReclaimCount: 1,
    retryCount: 0,
    totalAttemptCount: 1,
    state: {
      lifecyclePhase: 'runnable',
      ownershipState: 'unowned',
      eligibilityState: 'eligible_now',
      attemptState: 'attempt_interrupted',
    },
  })
  expect(await stored.attempts.pick(sql, ['attempt_index', 'outcome', 'ended_at_ms'])).toEqual([
    { attempt_index: 0, outcome: 'lease_expired_reclaimable', ended_at_ms: null },
  ])
  const events = await stored.leaseEvents.pick(sql, ['event_type', 'lease_epoch', 'worker_instance_id', 'actor'])
  expect(events.at(-1)).toEqual({
    event_type: 'expired',
    lease_epoch: 1,
    worker_instance_id: 'worker-1',
    actor: 'lease-expiry',
  })
  await refusal('lease_expired', engine.executions.complete(fenceOf(claim)))
  const next = await claimNext(engine, { workerInstanceId: 'worker-2' })
  expect(next).toMatchObject({ reason: 'reclaim', attemptIndex: 0, leaseEpoch: 2 })
  await refusal('stale_lease', engine.executions.complete(fenceOf(claim)))
})

test('a renewed lease does not expire', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine, {}, { leaseTtl: '10s' })
  await clock.advance('9s')
  await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [fenceOf(claim)], leaseTtl: '10s' })
  await clock.advance('9s')
  expect(await withoutWriting(sql, () => leaseExpiry.runOnce(sql))).toMatchObject({ processed: 0 })
})

test('LEASE-10 an execution that ended or was deleted before its turn is passed over', async () => {
  const { engine, sql, clock } = await setup()
  const gone = await claimed(engine, {}, { leaseTtl: '1s' })
  const done = await claimed(engine, {}, { leaseTtl: '1s' })
  await engine.executions.cancel({ executionId: done.executionId })
  await forget(sql, `lease_id = '${gone.leaseId}'`)
  await clock.advance('1m')
  expect(await withoutWriting(sql, () => leaseExpiry.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
})

test('LEASE-11 one bad row does not stop the duty: it is quarantined, logged, and tried again later', async () => {
  const { engine, sql, clock } = await setup()
  const now = await clock.now()
  const given = factory(sql)
  const ids = [
    await given.active({ expiresAt: now - 3000 }),
    await given.active({ expiresAt: now - 2000, kind: 'bad' }),
    await given.active({ expiresAt: now - 1000 }),
  ]
  // One more expiry than an integer can count.
  const bad = { execution_id: ids[1]! }
  await stored.executions.change(sql, { lease_reclaim_count: 2_147_483_647 }, bad)
  await stored.inputs.change(sql, { policy: '{"maxReclaimCount": 3000000000}' }, bad)
  const lines: string[] = []
  const logger = { ...console, error: (line: string) => void lines.push(line) }
  expect(await leaseExpiry.runOnce(sql, { logger })).toMatchObject({ processed: 2, errors: 1 })
  expect(await Promise.all(ids.map(async (id) => (await engine.executions.describe(id))?.publicState))).toEqual([
    'waiting',
    'active',
    'waiting',
  ])
  expect(lines).toEqual([expect.stringContaining(`execution ${ids[1]}, attempt 0: integer out of range`)])

  // Quarantined: the duty does not read it until its time, and then again, later each time.
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  await clock.advance('11s')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 0, errors: 1 })
  await clock.advance('11s')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  expect(await stored.quarantine.pick(sql, ['duty', 'failure_count'])).toEqual([
    { duty: 'lease-expiry', failure_count: 2 },
  ])

  await stored.executions.change(sql, { lease_reclaim_count: 0 }, bad)
  await clock.advance('11s')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await stored.quarantine.all(sql)).toEqual([])
})

test.each([
  ['namespace', { namespace: 'a' }],
  ['tag', { tag: { key: 'instance', value: 'one' } }],
  ['namespace and tag', { namespace: 'a', tag: { key: 'instance', value: 'one' } }],
])('LEASE-12 a run with a filter by %s keeps to it', async (_, filter) => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ours = await given.active({ expiresAt: 1, namespace: 'a', tags: { instance: 'one' } })
  const theirs = await given.active({ expiresAt: 0, namespace: 'b', tags: { instance: 'two' } })
  expect(await leaseExpiry.runOnce(sql, { filter })).toMatchObject({ processed: 1, errors: 0 })
  expect((await engine.executions.describe(ours))?.publicState).toBe('waiting')
  expect((await engine.executions.describe(theirs))?.publicState).toBe('active')
})

test.each([
  ['the policy says so', 2, { maxReclaimCount: 2 }],
  ['no policy says otherwise', 100, null],
])('LEASE-19 too many expiries end the execution as failed, when %s', async (_, most, policy) => {
  const { engine, sql, clock } = await setup()
  const executionId = await factory(sql).active({ expiresAt: 1 })
  await stored.executions.change(sql, { lease_reclaim_count: most - 1, consecutive_expiry_count: most - 1 })
  await stored.inputs.change(sql, { policy: policy === null ? null : JSON.stringify(policy) })
  await leaseExpiry.runOnce(sql)
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'delayed',
    leaseReclaimCount: most,
    consecutiveExpiryCount: most,
  })
  await clock.advance('1m')
  await delayedPromoter.runOnce(sql)
  const claim = await claimNext(engine, { leaseTtl: '1s' })
  await clock.advance('2s')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0, effects: { readyQueueIds: [] } })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'failed',
    failureReason: 'reclaim_limit',
  })
  expect(await stored.endings.pick(sql, ['outcome', 'reason'])).toEqual([
    { outcome: 'failed', reason: 'reclaim_limit' },
  ])
  const events = await stored.leaseEvents.pick(sql, ['event_type', 'lease_id'])
  expect(events.at(-1)).toEqual({ event_type: 'expired', lease_id: claim!.leaseId })
})

test('an expiry after a cancel request ends the execution as cancelled', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await claimed(engine, {}, { leaseTtl: '1s' })
  await engine.executions.cancel({ executionId, grace: '1h' })
  await clock.advance('2s')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, effects: { readyQueueIds: [] } })
  expect((await engine.executions.describe(executionId))?.publicState).toBe('cancelled')
})
