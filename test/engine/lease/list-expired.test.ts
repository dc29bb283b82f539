import { expect, test } from 'vitest'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { take } from '../execution/holder.ts'

test('WREG-09 expired leases are listed, soonest first, up to the very millisecond, by namespace', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const given = factory(sql)
  const at = await given.active({ namespace: 'n', expiresAt: now, workerInstance: 'w-2' })
  const before = await given.active({ namespace: 'n', expiresAt: now - 1, workerInstance: 'w-1', leaseEpoch: 3 })
  await given.active({ namespace: 'n', expiresAt: now + 1 })
  const elsewhere = await given.active({ namespace: 'm', expiresAt: now - 2 })
  const { leases } = await engine.leases.listExpired({ namespace: 'n' })
  expect(leases).toMatchObject([
    { executionId: before, attemptIndex: 0, leaseEpoch: 3, workerInstanceId: 'w-1', expiresAt: now - 1 },
    { executionId: at, workerInstanceId: 'w-2', expiresAt: now },
  ])
  const all = await engine.leases.listExpired({ limit: 1 })
  expect(all.leases).toMatchObject([{ executionId: elsewhere }])
  expect((await engine.leases.listExpired({ cursor: all.nextCursor! })).leases).toEqual(leases)
})

test('WREG-10 a lease keeps its id from list to list; a takeover has another id', async () => {
  const { engine, sql, clock } = await setup()
  await engine.executions.create({ kind: 'k' })
  const { leaseId } = await take(engine, { leaseTtl: '1s' })
  await clock.advance('2s')
  const listed = async () => (await engine.leases.listExpired()).leases.map((lease) => lease.leaseId)
  expect([await listed(), await listed()]).toEqual([[leaseId], [leaseId]])
  await leaseExpiry.runOnce(sql)
  await take(engine, { leaseTtl: '1s' })
  await clock.advance('2s')
  expect(await listed()).not.toEqual([leaseId])
})
