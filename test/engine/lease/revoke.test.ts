import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

const leaseId = '01900000-0000-7000-8000-00000000000a'

test('LEASE-25 a revoked lease ends, the execution returns to its queue, and the epoch stays', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).active({ workerInstance: 'wx', leaseId, leaseEpoch: 7 })
  const answer = await engine.leases.revoke({ executionId, workerInstanceId: 'wx', reason: 'stuck' })
  expect(answer).toEqual({ kind: 'revoked', executionId, leaseId, leaseEpoch: 7 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'waiting',
    state: {
      lifecyclePhase: 'runnable',
      ownershipState: 'unowned',
      attemptState: 'attempt_interrupted',
      interruption: 'revoked',
    },
    lease: null,
    leaseReclaimCount: 0,
  })
  const recorded = await stored.leaseEvents.pick(sql, ['event_type', 'reason', 'lease_epoch', 'worker_instance_id'])
  expect(recorded).toEqual([{ event_type: 'revoked', reason: 'stuck', lease_epoch: 7, worker_instance_id: 'wx' }])
  await refusal('lease_revoked', engine.executions.complete({ executionId, leaseId, leaseEpoch: 7 }))
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w', lanes: ['default'] })
  expect(claims).toMatchObject([{ executionId, reason: 'reclaim', leaseEpoch: 8 }])
  await refusal('stale_lease', engine.executions.complete({ executionId, leaseId, leaseEpoch: 7 }))
})

test('LEASE-26 a revoke without a lease says why there is none, and writes nothing', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const waiting = await given.waiting()
  const held = await given.active({ workerInstance: 'wx', leaseId })
  const { leases } = engine
  await withoutWriting(sql, async () => {
    expect(await leases.revoke({ executionId: waiting })).toMatchObject({ kind: 'not_held', why: 'never_claimed' })
    expect(await leases.revoke({ executionId: held, workerInstanceId: 'wy' })).toMatchObject({
      why: 'different_worker_instance_id',
    })
    const leaseIdOfAnother = '01900000-0000-7000-8000-00000000000b'
    expect(await leases.revoke({ executionId: held, leaseId: leaseIdOfAnother })).toMatchObject({
      why: 'lease_id_mismatch',
    })
    await refusal('execution_not_found', leases.revoke({ executionId: '{fp:7}:01900000-0000-7000-8000-000000000000' }))
  })
  expect(await leases.revoke({ executionId: held, workerInstanceId: '' })).toMatchObject({ kind: 'revoked' })
})

test('a revoke distinguishes a revoked lease, an ended execution and a lease that was given back', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const { leases } = engine
  const revoked = await given.active({ leaseId })
  await leases.revoke({ executionId: revoked })
  const released = await given.active({ leaseId, leaseEpoch: 3 })
  await engine.executions.release({ executionId: released, leaseId, leaseEpoch: 3 })
  const ended = await given.active({ leaseId, leaseEpoch: 3 })
  await engine.executions.complete({ executionId: ended, leaseId, leaseEpoch: 3 })
  const leaseIdOfAnother = '01900000-0000-7000-8000-00000000000b'
  await withoutWriting(sql, async () => {
    for (const [executionId, why] of [
      [revoked, 'already_revoked'],
      [released, 'no_active_lease'],
      [ended, 'ended'],
    ] as const) {
      expect(await leases.revoke({ executionId })).toEqual({ kind: 'not_held', executionId, why })
    }
    expect(await leases.revoke({ executionId: revoked, leaseId })).toMatchObject({ why: 'already_revoked' })
    expect(await leases.revoke({ executionId: revoked, leaseId: leaseIdOfAnother })).toMatchObject({
      why: 'lease_id_mismatch',
    })
  })
})

test('expired leases are listed by their expiry, page by page, until the duty reclaims them', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const later = await given.active({ expiresAt: 2000 })
  const sooner = await given.active({ expiresAt: 1000, namespace: 'n' })
  await given.active()
  const first = await engine.leases.listExpired({ limit: 1 })
  expect(first.leases).toMatchObject([{ executionId: sooner, expiresAt: 1000 }])
  const second = await engine.leases.listExpired({ limit: 1, cursor: first.nextCursor! })
  expect(second).toMatchObject({ leases: [{ executionId: later }], nextCursor: null })
  expect((await engine.as({ namespace: 'n' }).leases.listExpired()).leases).toMatchObject([{ executionId: sooner }])
  expect(await engine.leases.listExpired({ limit: 0 })).toEqual({ leases: [], nextCursor: null })
})
