import { expect, test } from 'vitest'
import { delayedPromoter } from '../../../src/engine/duties/delayed-promoter.ts'
import { suspensionTimeout } from '../../../src/engine/duties/suspension-timeout.ts'
import type { Condition } from '../../../src/model/condition.ts'
import { mintExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { answer, suspend, waiting } from '../waiting/suspension/waiting.ts'
import { fenceOf, held, take } from './holder.ts'
import * as stored from '../../support/stored.ts'

test('SUSP-12 an operator resumes at once, and gives a reason', async () => {
  const { engine, sql } = await setup()
  const { claim, waitpoint } = await waiting(engine, { condition: { kind: 'operator' }, timeout: '1h' })
  const { executionId } = claim
  const operator = engine.as({ actor: 'ops@example.com' })
  const resumed = await operator.executions.resume({ executionId, reason: 'checked by hand' })
  expect(resumed).toEqual({ kind: 'resumed', executionId, delayUntil: null })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'resumable',
    blockingReason: 'waiting_for_worker',
    state: { attemptState: 'attempt_interrupted', interruption: 'signalled' },
    suspension: null,
  })
  const detail = await engine.suspensions.describe(executionId)
  expect(detail).toMatchObject({ closeReason: 'resumed', timeoutAt: null, wakeAt: null, outcome: null })
  expect(waitpoint).toBeUndefined()
  const events = await stored.events.pick(sql, ['actor', 'reason'], { event_type: 'resumed' })
  expect(events).toEqual([{ actor: 'ops@example.com', reason: 'checked by hand' }])
  const next = await take(engine)
  expect(next).toMatchObject({ reason: 'resume', leaseEpoch: 2, resumption: { closeReason: 'resumed', signals: [] } })
})

test('SUSP-12 an operator resumes later, and it is eligible then', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const { claim, waitpoint } = await waiting(engine)
  const { executionId } = claim
  const delayUntil = (await engine.serverTime()) + 5000
  expect(await engine.executions.resume({ executionId, delay: 5000 })).toEqual({
    kind: 'resumed',
    executionId,
    delayUntil,
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'delayed',
    blockingReason: 'waiting_for_resume_delay',
    state: { eligibilityState: 'not_eligible_until_time', attemptState: 'attempt_interrupted' },
  })
  await refusal('waitpoint_closed', answer(engine, waitpoint))
  await clock.advance('5s')
  await delayedPromoter.runOnce(sql)
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'resumable' })
})

test('SUSP-13 resuming an execution that is not suspended is refused, and nothing is written', async () => {
  const { engine, sql } = await setup()
  const running = await held(engine)
  const { executionId: waitingId } = await engine.executions.create({ kind: 'k' })
  const ended = await held(engine, { priority: 100 })
  await engine.executions.complete(fenceOf(ended))
  await withoutWriting(sql, async () => {
    for (const executionId of [running.executionId, waitingId, ended.executionId]) {
      await refusal('execution_not_suspended', engine.executions.resume({ executionId }))
    }
    await refusal('execution_not_found', engine.executions.resume({ executionId: mintExecutionId() }))
  })
})

test('an operator can resume any suspended execution, with any condition and also after an escalation', async () => {
  const { engine, sql, clock } = await setup()
  const parent = await held(engine)
  const child = { kind: 'child', lane: 'others', parentId: parent.executionId }
  const { executionId: childId } = await engine.executions.create(child)
  await suspend(engine, parent, { condition: { kind: 'child', executionId: childId } })
  const conditions: Condition[] = [
    { kind: 'signal', name: 'go' },
    { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['answer'] },
    { kind: 'timeout' },
    { kind: 'time', at: 9_000_000_000_000 },
    { kind: 'allOf', members: [{ kind: 'operator' }, { kind: 'signal', waitpoint: 'answer' }] },
  ]
  const timing = { timeout: '1h', timeoutBehaviour: 'escalate' } as const
  const suspended = []
  for (const condition of conditions) suspended.push(await waiting(engine, { condition, ...timing }))
  const escalated = await waiting(engine, { condition: { kind: 'operator' }, ...timing, timeout: '1m' })
  await clock.advance('2m')
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1 })
  for (const { claim } of [{ claim: parent }, ...suspended, escalated]) {
    const { executionId } = claim
    expect(await engine.executions.resume({ executionId })).toMatchObject({ kind: 'resumed' })
    expect(await engine.executions.describe(executionId)).toMatchObject({
      publicState: 'resumable',
      state: { interruption: 'signalled' },
    })
    expect(await engine.suspensions.describe(executionId)).toMatchObject({ closeReason: 'resumed', timeoutAt: null })
    expect((await engine.waitpoints.list(executionId)).waitpoints).toEqual([])
  }
})

test('a second resume is refused', async () => {
  const { engine } = await setup()
  const { claim } = await waiting(engine)
  await engine.executions.resume({ executionId: claim.executionId })
  await refusal('execution_not_suspended', engine.executions.resume({ executionId: claim.executionId }))
})

test('many are resumed in one call, each with its own answer', async () => {
  const { engine } = await setup()
  const first = await waiting(engine)
  const second = await waiting(engine)
  const answers = await engine.executions.resumeMany([
    { executionId: first.claim.executionId },
    { executionId: mintExecutionId() },
    { executionId: second.claim.executionId, delay: '1h' },
  ])
  expect(answers).toMatchObject([
    { kind: 'resumed', delayUntil: null },
    { kind: 'refused', error: { code: 'execution_not_found' } },
    { kind: 'resumed', delayUntil: expect.any(Number) },
  ])
})

test('SUSP-14 a cancel closes the suspension and its waitpoints, and later signals are refused', async () => {
  const { engine } = await setup()
  const { claim, waitpoint } = await waiting(engine, { timeout: '1h' })
  const { executionId } = claim
  expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled', from: 'suspended' })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'cancelled' })
  expect((await engine.attempts.list(executionId)).attempts).toMatchObject([
    { outcome: 'cancelled', endedAt: expect.any(Number) },
  ])
  const detail = await engine.suspensions.describe(executionId)
  expect(detail).toMatchObject({ closeReason: 'cancelled', closedAt: expect.any(Number), timeoutAt: null })
  expect((await engine.waitpoints.list(executionId)).waitpoints).toEqual([])
  await refusal('target_not_signalable', answer(engine, waitpoint))
})

test('later holders also receive the resumption of an attempt whose first holder has lost it', async () => {
  const { engine } = await setup()
  const { claim, waitpoint } = await waiting(engine)
  await answer(engine, waitpoint)
  const first = await take(engine)
  await engine.leases.revoke({ executionId: claim.executionId })
  const second = await take(engine)
  expect(second).toMatchObject({ reason: 'reclaim', resumption: first.resumption })
  await engine.executions.fail({ ...fenceOf(second), reason: 'broken' })
})

test('a replay has no data of the suspension before it', async () => {
  const { engine } = await setup()
  const { claim } = await waiting(engine)
  const { executionId } = claim
  await engine.executions.cancel({ executionId })
  await engine.executions.replay({ executionId })
  expect(await engine.suspensions.describe(executionId)).toBeNull()
  expect(await take(engine)).toMatchObject({ reason: 'replay', resumption: null })
})
