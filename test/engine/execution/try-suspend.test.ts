// Events before the suspension: signals to a waitpoint that was created ahead, signals by name, children that have ended.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import type { SuspendRequest } from '../../../src/engine/waiting/suspension/request.ts'
import type { Condition } from '../../../src/model/condition.ts'
import { formatWaitpointId, mintExecutionId, type ExecutionId, type WaitpointId } from '../../../src/model/id.ts'
import { mintUuid } from '../../../src/model/uuid.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { answer, suspend } from '../waiting/suspension/waiting.ts'
import { fenceOf, held, take } from './holder.ts'
import * as stored from '../../support/stored.ts'

async function ahead(engine: Engine, key = 'answer') {
  const claim = await held(engine)
  const waitpoint = await engine.waitpoints.create({ ...fenceOf(claim), key })
  const request = (more: Partial<SuspendRequest> = {}): SuspendRequest => ({
    ...fenceOf(claim),
    condition: { kind: 'signal', waitpoint: key },
    waitpoints: [{ waitpointId: waitpoint.waitpointId }],
    ...more,
  })
  return { claim, waitpoint, request }
}

test('SUSP-11 a waitpoint that was created early becomes active, and its token stays valid', async () => {
  const { engine } = await setup()
  const { claim, waitpoint, request } = await ahead(engine)
  const suspended = await engine.executions.suspend(request())
  const { waitpointId, key, token } = waitpoint
  expect(suspended).toMatchObject({ kind: 'suspended', waitpoints: [{ waitpointId, key, token }] })
  const { waitpoints } = await engine.waitpoints.list(claim.executionId)
  expect(waitpoints).toMatchObject([{ waitpointId, state: 'active', expiresAt: null }])
  expect(await answer(engine, waitpoint)).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('an early signal satisfies a try at once, and the lease is kept', async () => {
  const { engine } = await setup()
  const { claim, waitpoint, request } = await ahead(engine)
  const { executionId } = claim
  const { signalId } = await answer(engine, waitpoint)
  const tried = await engine.executions.trySuspend(request({ idempotencyKey: 'k' }))
  expect(tried).toMatchObject({
    kind: 'already_satisfied',
    executionId,
    resumption: { closeReason: 'resumed', signals: [{ signalId, name: 'approved' }] },
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'active',
    lease: fenceLease(claim),
  })
  expect((await engine.waitpoints.list(executionId)).waitpoints).toEqual([])
  await refusal('waitpoint_closed', answer(engine, waitpoint))
  expect(await engine.executions.trySuspend(request({ idempotencyKey: 'k' }))).toEqual(tried)
  expect(await engine.executions.complete(fenceOf(claim))).toMatchObject({ kind: 'completed' })
})

test("a suspend with the key of a try that was satisfied returns the try's answer, and keeps the lease", async () => {
  const { engine, sql } = await setup()
  const { claim, waitpoint, request } = await ahead(engine)
  await answer(engine, waitpoint)
  const tried = await engine.executions.trySuspend(request({ idempotencyKey: 'k' }))
  expect(tried).toMatchObject({ kind: 'already_satisfied' })
  const again = request({ idempotencyKey: 'k' })
  expect(await withoutWriting(sql, () => engine.executions.suspend(again))).toEqual(tried)
  expect(await withoutWriting(sql, () => engine.executions.suspendMany([again]))).toEqual([tried])
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({ publicState: 'active' })
  const other = {
    ...fenceOf(claim),
    condition: { kind: 'signal', waitpoint: 'more' },
    idempotencyKey: 'other',
  } as const
  expect(await engine.executions.suspend(other)).toMatchObject({ kind: 'suspended' })
})

function fenceLease({ leaseId, leaseEpoch }: Claim) {
  return { leaseId, leaseEpoch }
}

test('an execution with a stop request keeps its lease when the condition is satisfied, and otherwise ends cancelled', async () => {
  const { engine } = await setup()
  const { claim, waitpoint, request } = await ahead(engine)
  const { executionId } = claim
  await answer(engine, waitpoint)
  await engine.executions.cancel({ executionId, grace: '1m' })
  expect(await engine.executions.trySuspend(request())).toMatchObject({ kind: 'already_satisfied' })
  const condition: Condition = { kind: 'signal', waitpoint: 'more' }
  const tried = await engine.executions.trySuspend({ ...fenceOf(claim), condition })
  expect(tried).toEqual({ kind: 'cancelled', executionId })
})

test('a suspend that an early signal satisfies gives up the lease, and is in its queue again', async () => {
  const { engine } = await setup()
  const { claim, waitpoint, request } = await ahead(engine)
  await answer(engine, waitpoint)
  expect(await engine.executions.suspend(request())).toMatchObject({ kind: 'suspended' })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({ publicState: 'resumable' })
  const next = await take(engine)
  expect(next).toMatchObject({ reason: 'resume', resumption: { signals: [{ name: 'approved' }] } })
})

test('a suspend that is satisfied honours its resume delay', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const { claim, waitpoint, request } = await ahead(engine)
  await answer(engine, waitpoint)
  await engine.executions.suspend(request({ resumeDelay: '5s' }))
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'delayed',
    blockingReason: 'waiting_for_resume_delay',
    delayUntil: (await engine.serverTime()) + 5000,
  })
})

test('early signals that do not suffice count together with later ones', async () => {
  const { engine } = await setup()
  const condition: Condition = { kind: 'count', n: 2, distinct: 'signals', waitpoints: ['answer'] }
  const { waitpoint, request } = await ahead(engine)
  await answer(engine, waitpoint, 'first')
  const tried = await engine.executions.trySuspend(request({ condition }))
  expect(tried).toMatchObject({ kind: 'suspended' })
  expect(await answer(engine, waitpoint, 'second')).toMatchObject({ effect: 'resume_condition_satisfied' })
  const next = await take(engine)
  expect(next.resumption?.signals.map(({ name }) => name)).toEqual(['first', 'second'])
})

test('early signals of all conditions count, also those of a composite', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const first = await engine.waitpoints.create({ ...fenceOf(claim), key: 'a' })
  const second = await engine.waitpoints.create({ ...fenceOf(claim), key: 'b' })
  await answer(engine, first)
  await answer(engine, second)
  const members = ['a', 'b'].map((waitpoint) => ({ kind: 'signal', waitpoint }) as const)
  const tried = await engine.executions.trySuspend({
    ...fenceOf(claim),
    condition: { kind: 'allOf', members: [{ kind: 'allOf', members }] },
    waitpoints: [{ waitpointId: second.waitpointId }, { waitpointId: first.waitpointId }],
  })
  expect(tried).toMatchObject({ kind: 'already_satisfied', resumption: { signals: [{}, {}] } })
})

test('a signal that was sent by name before the wait is taken by it, once', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  await engine.signals.send({ executionId, name: 'go' })
  await engine.signals.send({ executionId, name: 'other' })
  const condition: Condition = { kind: 'signal', name: 'go' }
  const tried = await engine.executions.trySuspend({ ...fenceOf(claim), condition })
  expect(tried).toMatchObject({ kind: 'already_satisfied', resumption: { signals: [{ name: 'go' }] } })
  expect(await engine.executions.trySuspend({ ...fenceOf(claim), condition })).toMatchObject({ kind: 'suspended' })
  const taken = await stored.signals.pick(sql, ['signal_name'], { taken_at_ms: stored.present })
  expect(taken).toEqual([{ signal_name: 'go' }])
  await engine.executions.resume({ executionId })
})

test('a predicate reads the payload of an early signal', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  const send = (amount: number) =>
    engine.signals.send({ executionId, name: 'paid', payload: Buffer.from(JSON.stringify({ amount })) })
  await send(1)
  const condition: Condition = { kind: 'signal', name: 'paid', payload: { path: ['amount'], atLeast: 10 } }
  expect(await engine.executions.trySuspend({ ...fenceOf(claim), condition })).toMatchObject({ kind: 'suspended' })
  expect(await send(10)).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test("children that have ended satisfy their leaves; an id that is no child's is refused", async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const parent = await held(engine)
  const child = await given.completed({ parentId: parent.executionId })
  const running = await given.active({ parentId: parent.executionId })
  const waitsFor = (executionId: ExecutionId): SuspendRequest => ({
    ...fenceOf(parent),
    condition: { kind: 'child', executionId },
  })
  const stranger = await given.completed()
  expect(await engine.executions.trySuspend(waitsFor(child))).toMatchObject({ kind: 'already_satisfied' })
  await withoutWriting(sql, async () => {
    await refusal('invalid_condition', engine.executions.trySuspend(waitsFor(stranger)))
    await refusal('invalid_condition', engine.executions.trySuspend(waitsFor(mintExecutionId())))
  })
  await engine.executions.suspend(waitsFor(child))
  const { state } = (await engine.executions.describe(parent.executionId))!
  expect(state).toMatchObject({ lifecyclePhase: 'runnable', interruption: 'children' })
  const next = await take(engine)
  const request = { ...fenceOf(next), condition: waitsFor(running).condition }
  expect(await engine.executions.trySuspend(request)).toMatchObject({ kind: 'suspended' })
})

test('a past point in time is satisfied, and a future one is the timer', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await engine.serverTime()
  const claim = await held(engine)
  const at = (ms: number): SuspendRequest => ({ ...fenceOf(claim), condition: { kind: 'time', at: ms } })
  expect(await engine.executions.trySuspend(at(now))).toMatchObject({ kind: 'already_satisfied' })
  expect(await engine.executions.trySuspend(at(now + 1))).toMatchObject({ kind: 'suspended', waitpoints: [] })
  expect(await engine.suspensions.describe(claim.executionId)).toMatchObject({ wakeAt: now + 1, closedAt: null })
})

test.each<[string, (engine: Engine, claim: Claim) => Promise<{ waitpointId: WaitpointId }>, string]>([
  ['that does not exist', async () => ({ waitpointId: formatWaitpointId(7, mintUuid()) }), 'waitpoint_not_found'],
  [
    'of another execution',
    async (engine) => {
      const other = await held(engine)
      return engine.waitpoints.create({ ...fenceOf(other), key: 'answer' })
    },
    'waitpoint_not_found',
  ],
  [
    'that a suspension has used',
    async (engine, claim) => {
      const made = await engine.waitpoints.create({ ...fenceOf(claim), key: 'answer' })
      await answer(engine, made)
      await engine.executions.trySuspend({
        ...fenceOf(claim),
        condition: { kind: 'signal', waitpoint: 'answer' },
        waitpoints: [{ waitpointId: made.waitpointId }],
      })
      return made
    },
    'waitpoint_not_pending',
  ],
])('a waitpoint %s is refused', async (_, find, code) => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const { waitpointId } = await find(engine, claim)
  await withoutWriting(sql, async () => {
    const error = await suspend(engine, claim, { waitpoints: [{ waitpointId }] }).catch((refused: unknown) => refused)
    expect(error).toMatchObject({ code })
  })
})

test('an expired waitpoint is refused, whether or not the duty has processed it', async () => {
  const { engine, clock } = await setup()
  const claim = await held(engine)
  const { waitpointId } = await engine.waitpoints.create({ ...fenceOf(claim), key: 'answer', expiresIn: '5s' })
  await clock.advance('6s')
  await refusal('pending_waitpoint_expired', suspend(engine, claim, { waitpoints: [{ waitpointId }] }))
})

test('a condition that does not name the key of a pending waitpoint is refused', async () => {
  const { engine, sql } = await setup()
  const { request } = await ahead(engine, 'other')
  await withoutWriting(sql, async () => {
    const condition: Condition = { kind: 'signal', waitpoint: 'answer' }
    const error = await refusal('invalid_condition', engine.executions.suspend(request({ condition })))
    expect(error.details).toMatchObject({ why: 'waitpoint_key_mismatch' })
  })
})
