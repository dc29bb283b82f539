import { expect, test } from 'vitest'
import type { SuspendRequest } from '../../../src/engine/waiting/suspension/request.ts'
import type { Condition } from '../../../src/model/condition.ts'
import { mintExecutionId } from '../../../src/model/id.ts'
import { suspensionReasons, type SuspensionReason } from '../../../src/model/suspension.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { answer, suspend, waiting } from '../waiting/suspension/waiting.ts'
import { fenceOf, held, take } from './holder.ts'
import * as stored from '../../support/stored.ts'

const anySignal: Condition = { kind: 'signal', waitpoint: 'answer' }

test('SUSP-01 a suspension gives up the lease and parks', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await engine.serverTime()
  const { claim, suspension } = await waiting(engine, { timeout: '1h', reason: 'waiting_for_approval' })
  const { executionId } = claim
  expect(suspension).toEqual({
    kind: 'suspended',
    executionId,
    suspensionId: expect.any(String),
    waitpoints: [{ waitpointId: expect.any(String), key: 'answer', token: expect.stringMatching(/:[\da-f]{64}$/) }],
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'suspended',
    state: {
      lifecyclePhase: 'suspended',
      ownershipState: 'unowned',
      eligibilityState: 'not_applicable',
      attemptState: 'attempt_interrupted',
    },
    lease: null,
    currentAttempt: { attemptIndex: 0 },
    suspension: {
      suspensionId: suspension.suspensionId,
      reason: 'waiting_for_approval',
      suspendedAt: now,
      timeoutAt: now + 3_600_000,
      timeoutBehaviour: 'fail',
    },
  })
  expect((await engine.attempts.list(executionId)).attempts).toMatchObject([{ outcome: 'suspended', endedAt: null }])
  const events = await stored.events.all(sql, { event_type: 'suspended' })
  expect(events).toMatchObject([
    { lease_effect: 'revoked', lease_id: claim.leaseId, lease_epoch: 1, reason: 'waiting_for_approval' },
  ])
  expect(await engine.suspensions.describe(executionId)).toMatchObject({ condition: anySignal, closedAt: null })
  expect((await engine.waitpoints.list(executionId)).waitpoints).toMatchObject([{ state: 'active', activatedAt: now }])
})

test.each([
  ['waiting_for_signal', 'waiting_for_signal'],
  ['waiting_for_approval', 'waiting_for_approval'],
  ['waiting_for_callback', 'waiting_for_callback'],
  ['waiting_for_tool_result', 'waiting_for_tool_result'],
  ['manual_pause', 'paused_by_operator'],
] as const)('SUSP-02 with the reason %s it reports that it is %s', async (reason, blockingReason) => {
  const { engine } = await setup()
  const { claim } = await waiting(engine, { reason })
  const found = await engine.executions.describe(claim.executionId)
  expect(found).toMatchObject({ blockingReason, blockingDetail: expect.stringContaining(reason) })
})

test.each([
  [{ kind: 'time', at: 4_000_000_000_000 }, 'waiting_for_delay', 'waiting for a point in time'],
  [{ kind: 'operator' }, 'paused_by_operator', 'waiting for an operator'],
  [{ kind: 'timeout' }, 'waiting_for_delay', 'waiting for its timeout'],
] as const)(
  'SUSP-02 a suspension that no signal can satisfy reports that: %o',
  async (condition, blockingReason, detail) => {
    const { engine } = await setup()
    const { claim } = await waiting(engine, { condition, timeout: '1h' })
    const found = await engine.executions.describe(claim.executionId)
    expect(found).toMatchObject({ blockingReason, blockingDetail: expect.stringContaining(detail) })
  },
)

test('SUSP-03 each of the nine reasons is stored as its word, and no other is accepted', async () => {
  const { engine, sql } = await setup()
  for (const reason of suspensionReasons) await waiting(engine, { reason })
  const suspensions = await stored.suspensions.pick(sql, ['reason_code'])
  expect(suspensions.map((row) => row.reason_code).toSorted()).toEqual([...suspensionReasons].toSorted())
  const claim = await held(engine)
  const reason = 'waiting_for_aproval' as SuspensionReason
  const error = await refusal('invalid_input', suspend(engine, claim, { reason }))
  expect(error.message).toContain('did you mean waiting_for_approval?')
})

test('SUSP-05 SUSP-06 a second suspend by the same lease is refused, and the first stays', async () => {
  const { engine, sql } = await setup()
  const { claim, waitpoint } = await waiting(engine, { idempotencyKey: 'first' })
  const condition: Condition = { kind: 'operator' }
  await withoutWriting(sql, async () => {
    await refusal('stale_lease', suspend(engine, claim))
    await refusal('stale_lease', suspend(engine, claim, { condition, idempotencyKey: 'second' }))
    await refusal('stale_lease', engine.executions.trySuspend({ ...fenceOf(claim), condition }))
  })
  expect(await answer(engine, waitpoint)).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('SUSP-07 the fence alone is enough, and it must be right', async () => {
  const { engine, sql, clock } = await setup()
  await waiting(engine)
  const claim = await held(engine)
  const request = { ...fenceOf(claim), condition: anySignal }
  await withoutWriting(sql, async () => {
    await refusal('execution_not_found', engine.executions.suspend({ ...request, executionId: mintExecutionId() }))
    await refusal('stale_lease', engine.executions.suspend({ ...request, leaseEpoch: 7 }))
    const { leaseId: _, ...unfenced } = request
    await refusal('fence_required', engine.executions.suspend(unfenced as SuspendRequest))
  })
  await clock.advance('10m')
  await withoutWriting(sql, () => refusal('lease_expired', engine.executions.suspend(request)))
})

test('SUSP-09 a new suspension replaces the last, whose tokens become invalid', async () => {
  const { engine } = await setup()
  const { suspension, waitpoint } = await waiting(engine)
  await answer(engine, waitpoint)
  const claim = await take(engine)
  const second = await suspend(engine, claim, { condition: { kind: 'signal', waitpoint: 'more' } })
  expect(second.suspensionId).not.toBe(suspension.suspensionId)
  const found = await engine.suspensions.describe(claim.executionId)
  expect(found).toMatchObject({
    suspensionId: second.suspensionId,
    condition: { kind: 'signal', waitpoint: 'more' },
    closedAt: null,
    outcome: null,
  })
  await refusal('waitpoint_closed', answer(engine, waitpoint))
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({ publicState: 'suspended' })
  const { waitpoints } = await engine.waitpoints.list(claim.executionId)
  expect(waitpoints.map(({ key }) => key)).toEqual(['more'])
})

test('SUSP-10 one suspension may have several waitpoints, the first of them the primary one', async () => {
  const { engine } = await setup()
  const members = ['c', 'a', 'b'].map((waitpoint) => ({ kind: 'signal', waitpoint }) as const)
  const waitpoints = [{ key: 'b' }, { key: 'c' }, { key: 'a' }]
  const { claim, suspension } = await waiting(engine, { condition: { kind: 'allOf', members }, waitpoints })
  expect(suspension.waitpoints.map(({ key }) => key)).toEqual(['b', 'c', 'a'])
  expect(new Set(suspension.waitpoints.map(({ token }) => token)).size).toBe(3)
  const { waitpoints: listed } = await engine.waitpoints.list(claim.executionId)
  expect(listed.map(({ key, waitpointId, state }) => ({ key, waitpointId, state }))).toEqual(
    suspension.waitpoints.map(({ key, waitpointId }) => ({ key, waitpointId, state: 'active' })),
  )
})

test('omitted waitpoints are those that the condition names', async () => {
  const { engine } = await setup()
  const condition: Condition = {
    kind: 'anyOf',
    members: [
      { kind: 'signal', waitpoint: 'a' },
      { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['b', 'a'] },
      { kind: 'signal', name: 'by-name' },
    ],
  }
  const { suspension } = await waiting(engine, { condition })
  expect(suspension.waitpoints.map(({ key }) => key)).toEqual(['a', 'b'])
  const { suspension: without } = await waiting(engine, { condition: { kind: 'operator' } })
  expect(without.waitpoints).toEqual([])
})

test('a repeat by the same holder with the same key returns the same answer, with the same tokens', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const members = ['b', 'a'].map((waitpoint) => ({ kind: 'signal', waitpoint }) as const)
  const request: Partial<SuspendRequest> = { condition: { kind: 'anyOf', members }, idempotencyKey: 'wait-1' }
  const first = await suspend(engine, claim, request)
  await withoutWriting(sql, async () => expect(await suspend(engine, claim, request)).toEqual(first))
  await answer(engine, first.waitpoints[0]!)
  await withoutWriting(sql, async () => expect(await suspend(engine, claim, request)).toEqual(first))
  await take(engine)
  await withoutWriting(sql, async () => expect(await suspend(engine, claim, request)).toEqual(first))
})

test('the key of another holder is no repeat', async () => {
  const { engine } = await setup()
  const { claim, waitpoint, suspension } = await waiting(engine, { idempotencyKey: 'wait-1' })
  await answer(engine, waitpoint)
  const next = await take(engine)
  const second = await suspend(engine, next, { idempotencyKey: 'wait-1' })
  expect(second.suspensionId).not.toBe(suspension.suspensionId)
  await refusal('stale_lease', suspend(engine, claim, { idempotencyKey: 'wait-1' }))
})

test('an execution with a stop request ends cancelled when its holder suspends it', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  await engine.waitpoints.create({ ...fenceOf(claim), key: 'early' })
  await engine.executions.cancel({ executionId, grace: '1m', reason: 'no longer wanted' })
  const request = { ...fenceOf(claim), condition: anySignal }
  expect(await engine.executions.suspend(request)).toEqual({ kind: 'cancelled', executionId })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    cancellationReason: 'no longer wanted',
  })
  expect((await engine.waitpoints.list(executionId)).waitpoints).toEqual([])
  expect((await engine.attempts.list(executionId)).attempts).toMatchObject([{ outcome: 'cancelled' }])
})

test('progress, attempt and counts survive a suspension', async () => {
  const { engine } = await setup()
  const claim = await held(engine, { policy: { retry: { attempts: 3 } } })
  await engine.executions.progress({ ...fenceOf(claim), percent: 40, message: 'half way' })
  const { waitpoints } = await suspend(engine, claim)
  await answer(engine, waitpoints[0]!)
  const next = await take(engine)
  expect(next).toMatchObject({ reason: 'resume', attemptIndex: 0, leaseEpoch: 2, retryCount: 0 })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    progress: { percent: 40 },
    totalAttemptCount: 1,
  })
  await engine.executions.complete(fenceOf(next))
  expect((await engine.attempts.list(claim.executionId)).attempts).toMatchObject([
    { outcome: 'success', leaseEpoch: 2 },
  ])
})

test('one bad suspension of many is refused at its position', async () => {
  const { engine } = await setup()
  const claims = [await held(engine), await held(engine), await held(engine)]
  const answers = await engine.executions.suspendMany(
    claims.map((claim, index) => ({
      ...fenceOf(claim),
      condition: anySignal,
      ...(index === 1 ? { timeoutAt: 1_600_000_000_000 } : {}),
    })),
  )
  expect(answers).toMatchObject([{ kind: 'suspended' }, { kind: 'refused' }, { kind: 'suspended' }])
  expect(await engine.executions.describe(claims[1]!.executionId)).toMatchObject({ publicState: 'active' })
})

test('the deadline of the execution continues while it is suspended, that of the attempt does not', async () => {
  const { engine, sql } = await setup()
  const policy = { attemptTimeoutMs: 60_000 }
  const { claim } = await waiting(engine, {}, { policy, deadline: '1h' })
  const found = await stored.executions.pick(sql, ['attempt_deadline_at_ms', 'deadline_at_ms'])
  expect(found).toEqual([{ attempt_deadline_at_ms: null, deadline_at_ms: claim.deadlineAt }])
})
