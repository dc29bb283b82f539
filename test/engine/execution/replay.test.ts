import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }

test.each(['completed', 'failed', 'cancelled', 'expired', 'skipped'] as const)(
  'OPS-08 an execution that is %s is replayed as a new generation, with the counts of its ending gone',
  async (state) => {
    const { engine, sql } = await setup()
    const executionId = await factory(sql)[state]()
    expect(await engine.as({ actor: 'ann' }).executions.replay({ executionId, reason: 'fixed' })).toEqual({
      kind: 'replayed',
      executionId,
      generation: 1,
      replayCount: 1,
      from: state,
      deadlineAt: null,
      deadlineDropped: false,
    })
    expect(await engine.executions.describe(executionId)).toMatchObject({
      publicState: 'waiting',
      state: { lifecyclePhase: 'runnable', eligibilityState: 'eligible_now', attemptState: 'pending_replay_attempt' },
      generation: 1,
      replayCount: 1,
      retryCount: 0,
      endedAt: null,
      failureReason: null,
      cancellationReason: null,
      cancelledBy: null,
    })
    const recorded = await stored.events.pick(sql, ['actor', 'reason', 'generation'], { event_type: 'replayed' })
    expect(recorded).toEqual([{ actor: 'ann', reason: 'fixed', generation: 1 }])
  },
)

test('OPS-09 replay of an execution that has not ended, or does not exist, is refused and writes nothing', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const executionId of [await given.waiting(), await given.active(), await given.suspended()]) {
    await withoutWriting(sql, () => refusal('execution_not_terminal', engine.executions.replay({ executionId })))
  }
  const executionId = '{fp:7}:01900000-0000-7000-8000-000000000000'
  await refusal('execution_not_found', engine.executions.replay({ executionId }))
})

test('a grant does not outlive the generation that it was for', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const other = { workerId: 'other', workerInstanceId: 'other-1' }
  const { grantId } = await engine.executions.grant({ executionId, ...other })
  await engine.executions.cancel({ executionId })
  await engine.executions.replay({ executionId })
  await refusal('grant_not_found', engine.executions.claimById({ executionId, grantId, ...other }))
  expect((await claimOne(engine)).executionId).toBe(executionId)
})

test('OPS-10 a replayed run is a new attempt of its kind, and its result is the new one', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await engine.executions.complete({ ...fenceOf(await claimOne(engine)), result: new Uint8Array([1]) })
  await engine.executions.replay({ executionId })
  const claim = await claimOne(engine)
  expect(claim).toMatchObject({ reason: 'replay', attemptIndex: 1, generation: 1 })
  await engine.executions.complete({ ...fenceOf(claim), result: new Uint8Array([2]) })
  expect(await engine.executions.result(executionId)).toMatchObject({ kind: 'completed', result: new Uint8Array([2]) })
  expect((await engine.attempts.list(executionId)).attempts).toMatchObject([
    { attemptIndex: 0, type: 'initial', generation: 0, outcome: 'success' },
    { attemptIndex: 1, type: 'replay', generation: 1, outcome: 'success' },
  ])
})

test('a deadline given as a duration starts anew; a fixed one that has passed is dropped, and the answer reports it', async () => {
  const { engine, clock } = await setup()
  const now = await engine.serverTime()
  const duration = await engine.executions.create({ kind: 'k', deadline: '1h' })
  const fixed = await engine.executions.create({ kind: 'k', deadlineAt: now + 3_600_000 })
  const far = await engine.executions.create({ kind: 'k', deadlineAt: now + 999_000_000 })
  for (const { executionId } of [duration, fixed, far]) await engine.executions.cancel({ executionId })
  await clock.advance('2h')
  const later = await engine.serverTime()
  const answer = await engine.executions.replay(pick(duration))
  expect(answer.deadlineAt).toBeGreaterThanOrEqual(later + 3_600_000)
  expect(await engine.executions.replay(pick(fixed))).toMatchObject({ deadlineAt: null, deadlineDropped: true })
  expect(await engine.executions.replay(pick(far))).toMatchObject({
    deadlineAt: now + 999_000_000,
    deadlineDropped: false,
  })
})

test('replays are counted and capped by the policy', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', policy: { maxReplayCount: 1 } })
  await engine.executions.cancel({ executionId })
  await engine.executions.replay({ executionId })
  await engine.executions.cancel({ executionId })
  await withoutWriting(sql, () => refusal('replay_limit', engine.executions.replay({ executionId })))
})

function pick({ executionId }: { executionId: Claim['executionId'] }) {
  return { executionId }
}

async function claimOne(engine: Engine): Promise<Claim> {
  const { claims } = await engine.executions.claim(worker)
  expect(claims).toHaveLength(1)
  return claims[0]!
}

function fenceOf({ executionId, leaseId, leaseEpoch }: Claim) {
  return { executionId, leaseId, leaseEpoch }
}
