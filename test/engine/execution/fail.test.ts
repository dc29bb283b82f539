import { expect, test } from 'vitest'
import type { FailRequest } from '../../../src/engine/execution/fail.ts'
import { limits } from '../../../src/model/limits.ts'
import type { PolicyInput } from '../../../src/model/policy.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { badFences, twoHeld } from './bad-fence.ts'
import { fenceOf, held, lastFence, leaseEvents, take } from './holder.ts'
import * as stored from '../../support/stored.ts'
import { interruptAll, promoteAll } from '../../support/changes.ts'

const retries = (attempts: number, delayMs = 500): { policy: PolicyInput } => ({
  policy: { retry: { attempts, backoff: { type: 'fixed', delayMs } } },
})

test.each([
  ['without a policy', {}],
  ['with a policy of one attempt', retries(1)],
])('ATT-08 a failure %s is final', async (_, create) => {
  const { engine, sql } = await setup()
  const claim = await held(engine, create)
  const error = new Uint8Array([1, 2])
  const answer = await engine.executions.fail({
    ...fenceOf(claim),
    reason: 'no such file',
    category: 'infra_crash',
    error,
    errorEncoding: 'raw',
  })
  expect(answer).toEqual({ kind: 'failed', executionId: claim.executionId })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'failed',
    failureReason: 'no such file',
    retryCount: 0,
    lease: null,
    state: {
      lifecyclePhase: 'terminal',
      ownershipState: 'unowned',
      eligibilityState: 'not_applicable',
      attemptState: 'attempt_terminal',
      terminalOutcome: 'failed',
    },
  })
  const reason = ['failure_reason', 'failure_category', 'error', 'error_encoding'] as const
  expect(await stored.attempts.pick(sql, ['outcome', ...reason, 'ended_at_ms'])).toEqual([
    {
      outcome: 'failed',
      failure_reason: 'no such file',
      failure_category: 'infra_crash',
      error,
      error_encoding: 'raw',
      ended_at_ms: expect.any(Number),
    },
  ])
  expect(await stored.endings.pick(sql, ['outcome', 'reason'])).toEqual([{ outcome: 'failed', reason: 'no such file' }])
  expect(await leaseEvents(sql)).toEqual(['acquired', 'revoked'])
})

test('ATT-09 a failure with retries left waits for its delay', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine, retries(4))
  const delayUntil = (await clock.now()) + 500
  expect(await engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })).toEqual({
    kind: 'retry_scheduled',
    executionId: claim.executionId,
    delayUntil,
  })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'delayed',
    blockingReason: 'waiting_for_retry_backoff',
    delayUntil,
    retryCount: 1,
    totalAttemptCount: 1,
    lease: null,
    failureReason: null,
    state: {
      lifecyclePhase: 'runnable',
      ownershipState: 'unowned',
      eligibilityState: 'not_eligible_until_time',
      attemptState: 'pending_retry_attempt',
      terminalOutcome: 'none',
    },
  })
  expect(await stored.endings.all(sql)).toEqual([])
  expect(await stored.attempts.pick(sql, ['outcome', 'failure_reason', 'failure_category'])).toEqual([
    { outcome: 'retry', failure_reason: 'broke', failure_category: 'transient' },
  ])
  expect(await leaseEvents(sql)).toEqual(['acquired', 'revoked'])
})

test('ATT-10, ATT-24 a retry is a new attempt at the next epoch, and the attempts are counted', async () => {
  const { engine, sql } = await setup()
  const first = await held(engine, retries(2))
  await engine.executions.fail({ ...fenceOf(first), reason: 'broke' })
  await promoteAll(sql)
  const second = await take(engine)
  expect(second).toMatchObject({ reason: 'retry', attemptIndex: 1, leaseEpoch: 2, retryCount: 1 })
  expect(await stored.leases.pick(sql, ['attempt_type'])).toEqual([{ attempt_type: 'retry' }])
  expect(await engine.executions.describe(first.executionId)).toMatchObject({
    totalAttemptCount: 2,
    currentAttempt: { attemptIndex: 1 },
  })
  await engine.executions.complete(fenceOf(second))
  expect(await engine.executions.describe(first.executionId)).toMatchObject({
    publicState: 'completed',
    totalAttemptCount: 2,
  })
  expect(await stored.attempts.pick(sql, ['attempt_index', 'outcome', 'attempt_type'], {}, 'attempt_index')).toEqual([
    { attempt_index: 0, outcome: 'retry', attempt_type: 'initial' },
    { attempt_index: 1, outcome: 'success', attempt_type: 'retry' },
  ])
})

test("ATT-11 the last retry's failure is final", async () => {
  const { engine } = await setup()
  const first = await held(engine, retries(2, 0))
  expect(await engine.executions.fail({ ...fenceOf(first), reason: '1' })).toMatchObject({ kind: 'retry_scheduled' })
  expect(await engine.executions.fail({ ...fenceOf(await take(engine)), reason: '2' })).toMatchObject({
    kind: 'failed',
  })
  expect(await engine.executions.describe(first.executionId)).toMatchObject({ failureReason: '2', retryCount: 1 })
})

test('ATT-12 successive failures wait 100, 200, 400, 800, 1000, 1000 ms', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const backoff = { type: 'exponential', initialMs: 100, maxMs: 1000, multiplier: 2 } as const
  let claim = await held(engine, { policy: { retry: { attempts: 7, backoff } } })
  const delays = []
  for (let retry = 0; retry < 6; retry += 1) {
    const answer = await engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })
    delays.push(answer.kind === 'retry_scheduled' && answer.delayUntil! - (await clock.now()))
    await promoteAll(sql)
    claim = await take(engine)
  }
  expect(delays).toEqual([100, 200, 400, 800, 1000, 1000])
  expect(await engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })).toMatchObject({ kind: 'failed' })
})

test('ATT-16 the category decides, and a permanent failure is never retried', async () => {
  const { engine, sql } = await setup()
  const given: [Partial<FailRequest>, string][] = [
    [{}, 'retry_scheduled'],
    [{ category: 'transient' }, 'retry_scheduled'],
    [{ category: 'infra_crash' }, 'retry_scheduled'],
    [{ category: 'timeout' }, 'retry_scheduled'],
    [{ category: 'permanent' }, 'failed'],
    [{ category: 'cancelled' }, 'failed'],
    [{ permanent: true }, 'failed'],
  ]
  const answers = []
  for (const [request] of given) {
    const claim = await held(engine, retries(2))
    answers.push(await engine.executions.fail({ ...fenceOf(claim), reason: 'broke', ...request }))
  }
  expect(answers.map((answer) => answer.kind)).toEqual(given.map(([, kind]) => kind))
  const record = (outcome: string) => ({ outcome, failure_reason: 'broke' })
  expect(await stored.attempts.pick(sql, ['outcome', 'failure_reason'], {}, 'outcome')).toEqual([
    ...Array.from({ length: 3 }, () => record('failed')),
    ...Array.from({ length: 4 }, () => record('retry')),
  ])
})

test('a policy may retry some categories only', async () => {
  const { engine } = await setup()
  const policy = { retry: { attempts: 3, categories: ['timeout'] } } as const
  const [one, other] = [await held(engine, { policy }), await held(engine, { policy })]
  expect(await engine.executions.fail({ ...fenceOf(one), reason: 'r' })).toMatchObject({ kind: 'failed' })
  expect(await engine.executions.fail({ ...fenceOf(other), reason: 'r', category: 'timeout' })).toMatchObject({
    kind: 'retry_scheduled',
  })
})

test('a retry without delay is claimable at once, and reports that', async () => {
  const { engine } = await setup()
  const claim = await held(engine, retries(2, 0))
  expect(await engine.executions.fail({ ...fenceOf(claim), reason: 'r' })).toMatchObject({ delayUntil: null })
  expect(await take(engine)).toMatchObject({ executionId: claim.executionId, reason: 'retry' })
})

test('ATT-15 fail is fenced like complete', async () => {
  const { engine, sql } = await setup()
  const { executionId, leaseId, leaseEpoch } = await held(engine)
  const ended = await lastFence(sql, await factory(sql).completed())
  const fail = (fence: object) => engine.executions.fail({ ...fence, reason: 'r' } as FailRequest)
  await withoutWriting(sql, async () => {
    await refusal('stale_lease', fail({ executionId, leaseId, leaseEpoch: leaseEpoch + 1 }))
    await refusal('fence_required', fail({ executionId }))
    await refusal('execution_not_active', fail(ended))
  })
})

test.each(badFences)('fail with $name is refused, writes nothing and harms no neighbour', async ({ wrong, code }) => {
  const { engine, sql } = await setup()
  const [one, other] = await twoHeld(engine)
  const bad = { ...wrong(one, other), reason: 'r' }
  await withoutWriting(sql, () => refusal(code, engine.executions.fail(bad)))
  const answers = await engine.executions.failMany([bad, { ...other, reason: 'r' }])
  expect(answers).toMatchObject([{ kind: 'refused', error: { code } }, { kind: 'failed' }])
})

const wrongFailures: Record<string, [Record<string, unknown>, string]> = {
  'no reason': [{ reason: undefined }, 'invalid_input'],
  'an empty reason': [{ reason: '' }, 'invalid_input'],
  'a reason that is too long': [{ reason: 'x'.repeat(limits.reasonBytes + 1) }, 'invalid_input'],
  'a reason that cannot be stored': [{ reason: 'a\0b' }, 'invalid_input'],
  'an unknown category': [{ category: 'bad luck' }, 'invalid_input'],
  'a permanence that is no answer': [{ permanent: 'yes' }, 'invalid_input'],
  'an error that is too large': [{ error: new Uint8Array(limits.errorBytes + 1) }, 'payload_too_large'],
  'an error that is no bytes': [{ error: new Error('x') }, 'invalid_input'],
  'an encoding that is empty': [{ error: new Uint8Array(), errorEncoding: '' }, 'invalid_input'],
  'an unknown field': [{ retry: false }, 'invalid_input'],
}

test.each(Object.entries(wrongFailures))('a failure with %s is refused at its position', async (_, [wrong, code]) => {
  const { engine, sql } = await setup()
  const [one, other] = await twoHeld(engine)
  const bad = { ...one, reason: 'r', ...wrong } as FailRequest
  await withoutWriting(sql, () => refusal(code as 'invalid_input', engine.executions.fail(bad)))
  const answers = await engine.executions.failMany([bad, { ...other, reason: 'r' }])
  expect(answers.map((answer) => answer.kind)).toEqual(['refused', 'failed'])
})

test('a repeat of fail by the same holder returns the first answer, whatever came after', async () => {
  const { engine, sql, clock } = await setup()
  const first = await held(engine, retries(2))
  const request = { ...fenceOf(first), reason: 'broke' }
  const answer = await engine.executions.fail(request)
  const again = () => withoutWriting(sql, () => engine.executions.fail(request))
  expect(await again()).toEqual(answer)
  await clock.advance('1m')
  await promoteAll(sql)
  expect(await again()).toEqual(answer)
  const second = await take(engine)
  expect(await again()).toEqual(answer)
  const last = { ...fenceOf(second), reason: 'broke again' }
  const ending = await engine.executions.fail(last)
  expect(ending).toMatchObject({ kind: 'failed' })
  expect(await again()).toEqual(answer)
  expect(await withoutWriting(sql, () => engine.executions.fail(last))).toEqual(ending)
  await withoutWriting(sql, () => refusal('execution_not_active', engine.executions.complete(fenceOf(second))))
})

test('a fail after the lease has expired changes nothing, though the execution failed meanwhile', async () => {
  const { engine, sql } = await setup()
  const old = { ...fenceOf(await held(engine)), reason: 'broke' }
  await interruptAll(sql, 'lapsed')
  await withoutWriting(sql, () => refusal('lease_expired', engine.executions.fail(old)))
  const next = await take(engine, { workerInstanceId: 'w-2' })
  await withoutWriting(sql, () => refusal('stale_lease', engine.executions.fail(old)))
  await engine.executions.fail({ ...fenceOf(next), reason: 'really' })
  await withoutWriting(sql, () => refusal('execution_not_active', engine.executions.fail(old)))
})

test('a retry of an execution with a stop request ends it cancelled, and a repeat reports that', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine, retries(2))
  await engine.executions.cancel({ executionId: claim.executionId, grace: '1h' })
  const request = { ...fenceOf(claim), reason: 'broke' }
  expect(await engine.executions.fail(request)).toEqual({ kind: 'cancelled', executionId: claim.executionId })
  expect((await engine.executions.describe(claim.executionId))?.publicState).toBe('cancelled')
  expect(await withoutWriting(sql, () => engine.executions.fail(request))).toMatchObject({ kind: 'cancelled' })
})

test('a failure may set the time of the next try, as long as the policy has an attempt left', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const policy = { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: '1m' } } } as const
  const first = await held(engine, { policy })
  const delayUntil = (await clock.now()) + 300_000
  const request = { ...fenceOf(first), reason: 'busy', retryIn: '5m' } as const
  expect(await engine.executions.fail(request)).toMatchObject({ kind: 'retry_scheduled', delayUntil })
  expect(await engine.executions.fail(request)).toMatchObject({ kind: 'retry_scheduled', delayUntil })
  const alone = await held(engine, { kind: 'other' })
  expect(await engine.executions.fail({ ...fenceOf(alone), reason: 'busy', retryIn: 0 })).toMatchObject({
    kind: 'failed',
  })
  const error = await refusal('invalid_input', engine.executions.fail({ ...request, retryIn: -1 }))
  expect(error.message).toContain('retryIn is -1')
})
