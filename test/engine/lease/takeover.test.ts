// How an execution passes from one holder to another: by a claim, after the duty, or by a grant.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { mintExecutionId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, held, leaseEvents, take, worker } from '../execution/holder.ts'
import * as stored from '../../support/stored.ts'

const another = { workerId: 'v', workerInstanceId: 'v-1' }

test('LEASE-14 a live lease is not taken over, and its holder is not disturbed', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  await withoutWriting(sql, async () => {
    expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 0 })
    expect((await engine.executions.claim({ ...worker, ...another })).claims).toEqual([])
  })
  expect(await engine.executions.complete(fenceOf(claim))).toMatchObject({ kind: 'completed' })
})

test('LEASE-15, LEASE-20 a takeover after an expiry continues the same attempt, raises the epoch, and is counted', async () => {
  const { engine, sql, clock } = await setup()
  const first = await held(engine)
  const { executionId } = first
  await clock.advance('5m')
  // Until the duty has processed it, neither its holder nor another worker can use it.
  expect((await engine.executions.claim({ ...worker, ...another })).claims).toEqual([])
  await leaseExpiry.runOnce(sql)
  const second = await take(engine, another)
  expect(second).toMatchObject({ executionId, reason: 'reclaim', attemptIndex: 0, leaseEpoch: 2 })
  expect(second.leaseId).not.toBe(first.leaseId)
  expect(await leaseEvents(sql)).toEqual(['acquired', 'expired', 'reclaimed'])
  expect(await engine.executions.describe(executionId)).toMatchObject({
    leaseReclaimCount: 1,
    totalAttemptCount: 1,
    retryCount: 0,
    lease: { workerInstanceId: 'v-1' },
  })
  expect((await engine.attempts.list(executionId)).attempts).toMatchObject([
    { attemptIndex: 0, type: 'initial', outcome: 'running', leaseEpoch: 2, workerInstanceId: 'v-1' },
  ])
  await refusal('stale_lease', engine.executions.complete(fenceOf(first)))
  expect(await engine.executions.complete(fenceOf(second))).toMatchObject({ kind: 'completed' })
})

test('LEASE-17 an execution whose lease expired or was revoked can be granted, and the grant permits one reclaim', async () => {
  const { engine, sql } = await setup()
  const { executionId: revoked } = await held(engine)
  await engine.leases.revoke({ executionId: revoked })
  const expiredOne = await factory(sql).interrupted()
  for (const executionId of [expiredOne, revoked]) {
    const { grantId } = await engine.executions.grant({ executionId, ...another })
    const claim = await engine.executions.claimById({ executionId, grantId, ...another })
    expect(claim).toMatchObject({ executionId, reason: 'reclaim', attemptIndex: 0, leaseEpoch: 2 })
  }
  expect(await stored.grants.all(sql)).toEqual([])
})

test.each(['active', 'suspended', 'delayed', 'completed', 'cancelled'] as const)(
  'LEASE-18 an execution that is %s is not granted, and the refusal names its state',
  async (state) => {
    const { engine, sql } = await setup()
    const executionId = await factory(sql)[state]()
    const error = await withoutWriting(sql, () =>
      refusal('execution_not_runnable', engine.executions.grant({ executionId, ...another })),
    )
    expect(error.details['publicState']).toBe(state)
  },
)

test('LEASE-18 an unknown execution is not granted', async () => {
  const { engine } = await setup()
  await refusal('execution_not_found', engine.executions.grant({ executionId: mintExecutionId(), ...another }))
})

test('LEASE-21 a reclaim belongs to the worker and the instance that it was granted to', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).interrupted()
  const { grantId } = await engine.executions.grant({ executionId, ...another })
  await withoutWriting(sql, async () => {
    for (const wrong of [{ workerId: 'x' }, { workerInstanceId: 'v-2' }]) {
      await refusal('grant_not_found', engine.executions.claimById({ executionId, grantId, ...another, ...wrong }))
    }
  })
  expect(await engine.executions.claimById({ executionId, grantId, ...another })).toMatchObject({ reason: 'reclaim' })
})

test('LEASE-22 a reclaim without a grant, or with an expired one, is refused', async () => {
  const { engine, sql, clock } = await setup()
  const executionId = await factory(sql).interrupted()
  const claim = (grantId: string) => engine.executions.claimById({ executionId, grantId, ...another })
  await withoutWriting(sql, () => refusal('grant_not_found', claim(randomUUID())))
  const { grantId } = await engine.executions.grant({ executionId, ...another, ttl: '1s' })
  await clock.advance('1s')
  await withoutWriting(sql, () => refusal('grant_expired', claim(grantId)))
})

test('LEASE-24 a reclaim requires the capabilities too, and leaves the execution to others', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', requiredCapabilities: ['gpu'] })
  await take(engine, { capabilities: ['gpu'] })
  await clock.advance('5m')
  await leaseExpiry.runOnce(sql)
  expect((await engine.executions.claim({ ...worker, capabilities: ['cpu'] })).claims).toEqual([])
  expect(await take(engine, { ...another, capabilities: ['gpu'] })).toMatchObject({ executionId, reason: 'reclaim' })
})

test('LEASE-31 a former holder no longer lists the lease, and the new one does', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await held(engine)
  await clock.advance('5m')
  await leaseExpiry.runOnce(sql)
  const { leaseId } = await take(engine, another)
  const leasesOf = async (workerInstanceId: string) =>
    (await engine.executions.renew({ workerInstanceId, leases: [] })).unnamed
  expect(await leasesOf('w-1')).toEqual([])
  expect(await leasesOf('v-1')).toMatchObject([{ executionId, leaseId, leaseEpoch: 2 }])
})
