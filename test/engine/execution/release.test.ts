import { expect, test } from 'vitest'
import type { ReleaseRequest } from '../../../src/engine/execution/give-back.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { badFences, twoHeld } from './bad-fence.ts'
import { fenceOf, held, leaseEvents, take, worker } from './holder.ts'
import * as stored from '../../support/stored.ts'
import { interruptAll } from '../../support/changes.ts'

test('a release gives the execution back at once, uses no attempt and counts nothing', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  expect(await engine.executions.release({ ...fenceOf(claim), reason: 'shutting down' })).toEqual({
    kind: 'released',
    executionId: claim.executionId,
  })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'waiting',
    lease: null,
    retryCount: 0,
    leaseReclaimCount: 0,
    state: { lifecyclePhase: 'runnable', attemptState: 'attempt_interrupted', interruption: 'released' },
  })
  expect(await stored.attempts.pick(sql, ['outcome', 'ended_at_ms'])).toEqual([
    { outcome: 'released', ended_at_ms: null },
  ])
  expect(await take(engine)).toMatchObject({ attemptIndex: 0, leaseEpoch: 2, reason: 'resume' })
  expect(await leaseEvents(sql)).toEqual(['acquired', 'revoked', 'acquired'])
})

test('a release wakes a waiting claim', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const waiting = engine.executions.claim({ ...worker, wait: '1m' })
  await engine.executions.release(fenceOf(claim))
  expect((await waiting).claims).toMatchObject([{ executionId: claim.executionId }])
})

test.each(badFences)(
  'release with $name is refused, writes nothing and harms no neighbour',
  async ({ wrong, code }) => {
    const { engine, sql } = await setup()
    const [one, other] = await twoHeld(engine)
    await withoutWriting(sql, () => refusal(code, engine.executions.release(wrong(one, other))))
    const answers = await engine.executions.releaseMany([wrong(one, other), other])
    expect(answers).toMatchObject([{ kind: 'refused', error: { code } }, { kind: 'released' }])
  },
)

test.each([{ reason: '\0' }, { reason: 7 }, { until: 5 }])(
  'a release with %o is refused at its position',
  async (wrong) => {
    const { engine, sql } = await setup()
    const [one, other] = await twoHeld(engine)
    const bad = { ...one, ...wrong } as ReleaseRequest
    await withoutWriting(sql, () => refusal('invalid_input', engine.executions.release(bad)))
    const answers = await engine.executions.releaseMany([bad, other])
    expect(answers.map((answer) => answer.kind)).toEqual(['refused', 'released'])
  },
)

test('a repeat of release by the same holder returns the first answer, also when another worker has the lease', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const answer = await engine.executions.release(fence)
  const again = () => withoutWriting(sql, () => engine.executions.release(fence))
  expect(await again()).toEqual(answer)
  const next = await take(engine, { workerInstanceId: 'w-2' })
  expect(await again()).toEqual(answer)
  await withoutWriting(sql, () => refusal('stale_lease', engine.executions.complete(fence)))
  await engine.executions.complete(fenceOf(next))
  await withoutWriting(sql, () => refusal('execution_not_active', engine.executions.complete(fence)))
  expect(await again()).toEqual(answer)
})

test.each([
  ['lapsed', 'lease_expired'],
  ['revoked', 'lease_revoked'],
] as const)('a release after the lease was %s changes nothing', async (how, code) => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await interruptAll(sql, how)
  await withoutWriting(sql, () => refusal(code, engine.executions.release(fence)))
})

test('a release of an execution with a stop request ends it cancelled, and a repeat reports that', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  await engine.as({ actor: 'ann' }).executions.cancel({ executionId, grace: '1h', reason: 'too dear' })
  expect(await engine.executions.release(fenceOf(claim))).toMatchObject({ kind: 'cancelled' })
  expect(await withoutWriting(sql, () => engine.executions.release(fenceOf(claim)))).toMatchObject({
    kind: 'cancelled',
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    cancellationReason: 'too dear',
    cancelledBy: 'ann',
  })
})
