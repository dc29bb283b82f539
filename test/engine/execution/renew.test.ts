import { expect, inject, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { RenewRequest } from '../../../src/engine/execution/renew.ts'
import type { Fence } from '../../../src/engine/transition/fence.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { badFences, twoHeld } from './bad-fence.ts'
import { fenceOf, held, lastFence, leaseEvents, take } from './holder.ts'
import * as stored from '../../support/stored.ts'
import { moveLog } from '../../support/event-log.ts'
import { interruptAll, promoteAll } from '../../support/changes.ts'

const workerInstanceId = 'w-1'
const renew = (engine: Engine, ...leases: Fence[]) =>
  engine.executions.renew({ workerInstanceId, leases, leaseTtl: '5s' })

test('LEASE-01 a renewal moves the expiry, keeps the epoch and is recorded', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  await clock.advance('2s')
  const now = await clock.now()
  const before = await engine.executions.describe(claim.executionId)
  expect(await renew(engine, fenceOf(claim))).toEqual({
    leases: [{ kind: 'renewed', executionId: claim.executionId, expiresAt: now + 5000, cancelRequested: false }],
    unnamed: [],
  })
  expect(await engine.executions.describe(claim.executionId)).toEqual({
    ...before,
    lease: { ...before!.lease, expiresAt: now + 5000, renewedAt: now },
  })
  expect(await leaseEvents(sql)).toEqual(['acquired', 'renewed'])
})

test('LEASE-02 a renewal with an old epoch is refused', async () => {
  const { engine, sql } = await setup()
  const old = fenceOf(await held(engine))
  await engine.executions.release(old)
  await take(engine)
  const { leases } = await withoutWriting(sql, () => renew(engine, old))
  expect(leases).toMatchObject([{ kind: 'lost', error: { code: 'stale_lease' } }])
})

test('LEASE-03 a renewal needs a fence', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await held(engine)
  const { leases } = await withoutWriting(sql, () => renew(engine, { executionId } as Fence))
  expect(leases).toMatchObject([{ kind: 'lost', executionId, error: { code: 'fence_required' } }])
})

test('LEASE-04 a lease that expired, was revoked or given back cannot be renewed', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const code = async (fence: Fence) => {
    const [answer] = (await withoutWriting(sql, () => renew(engine, fence))).leases
    return answer?.kind === 'lost' && answer.error.code
  }
  const overdue = fenceOf(await held(engine))
  await clock.advance('5m')
  expect(await code(overdue)).toBe('lease_expired')
  await interruptAll(sql, 'lapsed')
  expect(await code(overdue)).toBe('lease_expired')
  const revoked = fenceOf(await take(engine))
  await stored.attempts.remove(sql)
  await interruptAll(sql, 'revoked')
  expect(await code(revoked)).toBe('lease_revoked')
  const released = fenceOf(await take(engine))
  await engine.executions.release(released)
  expect(await code(released)).toBe('stale_lease')
})

test('LEASE-05 an ended execution cannot be renewed, and the answer has the ending', async () => {
  const { engine, sql } = await setup()
  for (const state of ['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const) {
    const fence = await lastFence(sql, await factory(sql)[state]())
    const { leases } = await withoutWriting(sql, () => renew(engine, fence))
    expect(leases).toMatchObject([
      { kind: 'lost', error: { code: 'execution_not_active', details: { publicState: state, leaseEpoch: 1 } } },
    ])
  }
})

test.each(badFences)(
  'a renewal with $name is lost at its position, and the neighbour is kept',
  async ({ wrong, code }) => {
    const { engine, sql } = await setup()
    const [one, other] = await twoHeld(engine)
    const alone = await withoutWriting(sql, () => renew(engine, wrong(one, other)))
    expect(alone.leases).toMatchObject([{ kind: 'lost', error: { code } }])
    const { leases } = await renew(engine, wrong(one, other), other)
    expect(leases).toMatchObject([
      { kind: 'lost', error: { code } },
      { kind: 'renewed', executionId: other.executionId },
    ])
  },
)

const wrongRequests: Record<string, [Record<string, unknown>, string]> = {
  'a ttl under 100 ms': [{ leaseTtl: 99 }, 'leaseTtl'],
  'a ttl over a day': [{ leaseTtl: '25h' }, 'leaseTtl'],
  'no instance': [{ workerInstanceId: undefined }, 'workerInstanceId'],
  'no list of leases': [{ leases: undefined }, 'leases'],
  'a lease instead of a list': [{ leases: {} }, 'leases'],
  'an unknown field': [{ ttl: 5 }, inject('overHttp') ? 'renewExecutions' : 'renew'],
}

test.each(Object.entries(wrongRequests))('a renewal with %s is refused', async (_, [wrong, field]) => {
  const { engine, sql } = await setup()
  const request = { workerInstanceId, leases: [fenceOf(await held(engine))], ...wrong } as RenewRequest
  const error = await withoutWriting(sql, () => refusal('invalid_input', engine.executions.renew(request)))
  expect(error.details['field']).toBe(field)
})

test('a value that is no lease is lost at its position', async () => {
  const { engine } = await setup()
  const fence = fenceOf(await held(engine))
  const { leases } = await renew(engine, null as never, fence)
  expect(leases).toMatchObject([{ kind: 'lost', error: { code: 'invalid_input' } }, { kind: 'renewed' }])
})

test('the same lease twice is renewed once, and both answers report it', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const { leases } = await renew(engine, fence, fence)
  expect(leases.map((answer) => answer.kind)).toEqual(['renewed', 'renewed'])
  expect(await leaseEvents(sql)).toEqual(['acquired', 'renewed'])
})

test('all leases of an instance are renewed in one call, in the order in which they were named', async () => {
  const { engine } = await setup()
  await engine.executions.createMany(Array.from({ length: 300 }, () => ({ kind: 'k' })))
  const request = { workerId: 'w', workerInstanceId, lanes: ['default'], max: 300 }
  const { claims } = await engine.executions.claim(request)
  const named = claims.toReversed()
  const { leases, unnamed } = await renew(engine, ...named.map(fenceOf))
  expect(leases.map((answer) => answer.executionId)).toEqual(named.map((claim) => claim.executionId))
  expect(leases.every((answer) => answer.kind === 'renewed')).toBe(true)
  expect(unnamed).toEqual([])
})

test('a renewal also reports leases that the instance did not name, and none of other instances', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const [named, forgotten] = [await held(engine), await held(engine)]
  await engine.executions.create({ kind: 'k' })
  await take(engine, { workerInstanceId: 'w-2' })
  const { unnamed } = await renew(engine, fenceOf(named))
  expect(unnamed).toEqual([{ ...fenceOf(forgotten), expiresAt: forgotten.leaseExpiresAt }])
  const [adopted] = (await renew(engine, ...unnamed.map(fenceOf))).leases
  expect(adopted).toMatchObject({ kind: 'renewed' })
  await clock.advance('5m')
  expect((await renew(engine)).unnamed).toEqual([])
})

test('a renewal of an empty list is answered', async () => {
  const { engine, sql } = await setup()
  await withoutWriting(sql, async () => expect(await renew(engine)).toEqual({ leases: [], unnamed: [] }))
})

test('a renewal reports a cancel request', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  await engine.executions.cancel({ executionId: claim.executionId, grace: '1h' })
  expect((await renew(engine, fenceOf(claim))).leases).toMatchObject([{ kind: 'renewed', cancelRequested: true }])
})

test('a renewal that finds no block in the log creates it', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await moveLog(sql, 10_000_001)
  expect((await renew(engine, fence)).leases).toMatchObject([{ kind: 'renewed' }])
})

test('a lease is never shorter than the request says, nor longer', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const fence = fenceOf(await held(engine))
  const request = { workerInstanceId, leases: [fence] }
  const now = await clock.now()
  expect((await engine.executions.renew({ ...request, leaseTtl: '1d' })).leases).toMatchObject([
    { expiresAt: now + 86_400_000 },
  ])
  expect((await engine.executions.renew({ ...request, leaseTtl: 100 })).leases).toMatchObject([
    { expiresAt: now + 100 },
  ])
})

test('LEASE-30 cancelling an execution without a lease writes no lease event', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await engine.executions.cancel({ executionId })
  expect(await leaseEvents(sql)).toEqual([])
})

test('each operation of a holder writes its own lease event, and one only', async () => {
  const { engine, sql } = await setup()
  const policy = { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 1 } } } as const
  let fence = fenceOf(await held(engine, { policy }))
  await renew(engine, fence)
  await engine.executions.delay({ ...fence, for: '1s' })
  await promoteAll(sql)
  fence = fenceOf(await take(engine))
  await engine.executions.fail({ ...fence, reason: 'r' })
  await promoteAll(sql)
  fence = fenceOf(await take(engine))
  await engine.executions.complete(fence)
  expect(
    (await stored.leaseEvents.pick(sql, ['event_type', 'lease_epoch'])).map((row) => [
      row['event_type'],
      row['lease_epoch'],
    ]),
  ).toEqual([
    ['acquired', 1],
    ['renewed', 1],
    ['revoked', 1],
    ['acquired', 2],
    ['revoked', 2],
    ['acquired', 3],
    ['revoked', 3],
  ])
  const cancelled = await held(engine)
  await engine.executions.cancel({ executionId: cancelled.executionId })
  expect((await leaseEvents(sql)).slice(7)).toEqual(['acquired', 'revoked'])
})
