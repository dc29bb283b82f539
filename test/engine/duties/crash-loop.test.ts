// A run that kills its worker again and again: which expiries count, which events reset the count, how the reclaim
// waits, how it ends.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import { delayedPromoter } from '../../../src/engine/duties/delayed-promoter.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import type { ExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup, type Fixture } from '../../support/setup.ts'
import { claimed, claimNext, fenceOf } from './claimed.ts'

const leaseTtl = '10s' as const
const retry = { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } as const

/** The worker dies: its lease expires, and the duty processes it. */
async function die({ clock, sql }: Fixture): Promise<void> {
  await clock.advance('10001ms')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
}

/** Waits until the execution may be claimed, and claims it. */
async function reclaim({ clock, sql, engine }: Fixture, workerInstanceId = 'worker-1'): Promise<Claim> {
  await clock.advance('75s')
  await delayedPromoter.runOnce(sql)
  return (await claimNext(engine, { leaseTtl, workerInstanceId }))!
}

async function countsOf(engine: Engine, executionId: ExecutionId): Promise<readonly [number, number]> {
  const { consecutiveExpiryCount, leaseReclaimCount } = (await engine.executions.describe(executionId))!
  return [consecutiveExpiryCount, leaseReclaimCount]
}

test('the first reclaim comes at once; then each waits twice as long, a minute at most', async () => {
  const fixture = await setup()
  const { engine, clock } = fixture
  await clock.freeze()
  const { executionId } = await claimed(engine, {}, { leaseTtl })
  const waits: (number | null)[] = []
  for (let count = 1; count <= 9; count += 1) {
    await die(fixture)
    const { delayUntil } = (await engine.executions.describe(executionId))!
    waits.push(delayUntil === null ? null : delayUntil - (await clock.now()))
    expect(await countsOf(engine, executionId)).toEqual([count, count])
    expect(await reclaim(fixture)).toMatchObject({ executionId, reason: 'reclaim', attemptIndex: 0 })
  }
  expect(waits).toEqual([null, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  expect(await engine.executions.describe(executionId)).toMatchObject({ retryCount: 0, totalAttemptCount: 1 })
})

test('while it waits, explain states why and until when; at the limit it fails, and explain names the workers', async () => {
  const fixture = await setup()
  const { engine } = fixture
  const { executionId } = await claimed(engine, { policy: { maxReclaimCount: 2, retry } }, { leaseTtl })
  await die(fixture)
  expect((await engine.executions.explain(executionId))!.sentence).toMatch(
    /^Lost its worker \(last: worker-1\) and has been waiting for another since /,
  )
  await reclaim(fixture, 'worker-2')
  await die(fixture)
  const { delayUntil, publicState, blockingReason } = (await engine.executions.describe(executionId))!
  expect({ publicState, blockingReason }).toEqual({ publicState: 'delayed', blockingReason: 'waiting_for_delay' })
  expect(await engine.executions.explain(executionId)).toMatchObject({
    until: delayUntil,
    sentence: `Its worker died or was blocked (2 times in a row; last: worker-2, worker-1); it will be retried at ${new Date(delayUntil!).toISOString()}.`,
  })
  await reclaim(fixture, 'worker-3')
  await die(fixture)
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'failed',
    failureReason: 'reclaim_limit',
    retryCount: 0,
  })
  expect((await engine.executions.explain(executionId))!.sentence).toMatch(
    /^Failed at \S+: reclaim_limit: its worker died or was blocked without progress \(3 times in a row; last: worker-3, worker-2, worker-1\)\.$/,
  )
})

test('a replay resets the count', async () => {
  const fixture = await setup()
  const { engine } = fixture
  const { executionId } = await claimed(engine, { policy: { maxReclaimCount: 0 } }, { leaseTtl })
  await die(fixture)
  expect((await engine.executions.describe(executionId))?.publicState).toBe('failed')
  await engine.executions.replay({ executionId })
  expect(await countsOf(engine, executionId)).toEqual([0, 0])
})

type Progress = (fixture: Fixture, claim: Claim) => Promise<unknown>

const resets: readonly (readonly [string, Progress])[] = [
  ['delay', ({ engine }, claim) => engine.executions.delay({ ...fenceOf(claim), for: 1 })],
  ['release', ({ engine }, claim) => engine.executions.release(fenceOf(claim))],
  ['new attempt', ({ engine }, claim) => engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })],
  [
    'suspension',
    async ({ engine }, claim) => {
      await engine.executions.suspend({ ...fenceOf(claim), condition: { kind: 'operator' } })
      await engine.executions.resume({ executionId: claim.executionId })
    },
  ],
]

test.each(resets)('a %s resets the count, and the total stays', async (_, progress) => {
  const fixture = await setup()
  const { engine } = fixture
  const { executionId } = await claimed(engine, { policy: { retry } }, { leaseTtl })
  await die(fixture)
  await reclaim(fixture)
  await die(fixture)
  expect(await countsOf(engine, executionId)).toEqual([2, 2])
  await progress(fixture, await reclaim(fixture))
  expect(await countsOf(engine, executionId)).toEqual([0, 2])
  expect((await reclaim(fixture)).executionId).toBe(executionId)
  await die(fixture)
  expect(await countsOf(engine, executionId)).toEqual([1, 3])
})

test.each([['expires'], ['is revoked']])('a recorded step resets the count when its lease %s', async (how) => {
  const fixture = await setup()
  const { engine } = fixture
  const { executionId } = await claimed(engine, {}, { leaseTtl })
  await die(fixture)
  await reclaim(fixture)
  await die(fixture)
  const claim = await reclaim(fixture)
  await engine.steps.record({ ...fenceOf(claim), name: 'a', kind: 'step', state: 'succeeded' })
  if (how === 'expires') await die(fixture)
  else await engine.leases.revoke({ executionId })
  expect(await countsOf(engine, executionId)).toEqual(how === 'expires' ? [1, 3] : [0, 2])
  // The step belongs to an earlier lease: it is no progress of this one.
  await reclaim(fixture)
  await die(fixture)
  expect((await countsOf(engine, executionId))[0]).toBe(how === 'expires' ? 2 : 1)
})

test('a revoke without progress neither counts nor resets', async () => {
  const fixture = await setup()
  const { engine } = fixture
  const { executionId } = await claimed(engine, {}, { leaseTtl })
  await die(fixture)
  await reclaim(fixture)
  await engine.leases.revoke({ executionId })
  expect(await countsOf(engine, executionId)).toEqual([1, 1])
})

test('a run that was claimed ahead counts only when its start was reported', async () => {
  const fixture = await setup()
  const { engine, clock, sql } = fixture
  const { ids } = await twoOf(engine, { maxReclaimCount: 0 })
  const { claims } = await engine.executions.claim({
    workerId: 'w',
    workerInstanceId: 'w-1',
    lanes: ['default'],
    max: 2,
    startCount: 0,
    leaseTtl,
  })
  expect(claims).toHaveLength(2)
  const [first, second] = claims
  const renewed = await engine.executions.renew({
    workerInstanceId: 'w-1',
    leases: [{ ...fenceOf(first!), started: true }, fenceOf(second!)],
    leaseTtl,
  })
  expect(renewed.leases).toMatchObject([{ kind: 'renewed' }, { kind: 'renewed' }])
  // A later renewal need not repeat it.
  await engine.executions.renew({ workerInstanceId: 'w-1', leases: claims.map(fenceOf), leaseTtl })
  await clock.advance('11s')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 2 })
  expect(ids).toContain(first!.executionId)
  expect(await engine.executions.describe(first!.executionId)).toMatchObject({ failureReason: 'reclaim_limit' })
  expect(await engine.executions.describe(second!.executionId)).toMatchObject({
    publicState: 'waiting',
    consecutiveExpiryCount: 0,
    leaseReclaimCount: 1,
  })
})

test.each([
  [true, 0],
  [false, 2],
])(
  'a release resets the count when its run has started (%s), and not when it was only claimed ahead',
  async (started, count) => {
    const fixture = await setup()
    const { engine, clock, sql } = fixture
    const { executionId } = await claimed(engine, {}, { leaseTtl })
    await die(fixture)
    await reclaim(fixture)
    await die(fixture)
    await clock.advance('75s')
    await delayedPromoter.runOnce(sql)
    const { claims } = await engine.executions.claim({
      workerId: 'w',
      workerInstanceId: 'w-1',
      lanes: ['default'],
      startCount: started ? 1 : 0,
      leaseTtl,
    })
    await engine.executions.release(fenceOf(claims[0]!))
    expect(await countsOf(engine, executionId)).toEqual([count, 2])
  },
)

test('of a claim, the first in order are the started ones', async () => {
  const { engine, clock, sql } = await setup()
  await engine.executions.createMany(Array.from({ length: 5 }, (_, priority) => ({ kind: 'k', priority })))
  const { claims } = await engine.executions.claim({
    workerId: 'w',
    workerInstanceId: 'w-1',
    lanes: ['default'],
    max: 5,
    startCount: 2,
    leaseTtl,
  })
  await clock.advance('11s')
  await leaseExpiry.runOnce(sql)
  const counts = claims.map(async ({ executionId }) => (await countsOf(engine, executionId))[0])
  expect(await Promise.all(counts)).toEqual([1, 1, 0, 0, 0])
})

test('executions that lose one worker together are retried at different times', async () => {
  const { engine, clock, sql } = await setup()
  await clock.freeze()
  await engine.executions.createMany(Array.from({ length: 20 }, () => ({ kind: 'k' })))
  const claim = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], max: 20, leaseTtl } as const
  for (let count = 0; count < 2; count += 1) {
    expect((await engine.executions.claim(claim)).claims).toHaveLength(20)
    await clock.advance('11s')
    expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 20 })
  }
  const now = await clock.now()
  const { executions } = await engine.executions.list({ state: 'delayed' })
  const described = await Promise.all(executions.map(({ executionId }) => engine.executions.describe(executionId)))
  const waits = described.map((found) => found!.delayUntil! - now)
  for (const wait of waits) {
    expect(wait).toBeGreaterThanOrEqual(1000)
    expect(wait).toBeLessThan(11_000)
  }
  expect(new Set(waits).size).toBeGreaterThan(5)
})

test.each([
  ['startCount', -1],
  ['startCount', 1.5],
  ['startCount', '2'],
])('a claim with %s %j is refused', async (field, value) => {
  const { engine } = await setup()
  const claim = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], [field]: value }
  const error = await refusal('invalid_input', engine.executions.claim(claim))
  expect(error.message).toContain(field)
})

async function twoOf(engine: Engine, policy: { readonly maxReclaimCount: number }): Promise<{ ids: ExecutionId[] }> {
  const first = await engine.executions.create({ kind: 'k', policy })
  const second = await engine.executions.create({ kind: 'k', policy })
  return { ids: [first.executionId, second.executionId] }
}
