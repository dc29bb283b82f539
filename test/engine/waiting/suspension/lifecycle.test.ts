// The effects of a wait on the execution's claims, attempts and deadline, and on its deletion.
import { expect, test } from 'vitest'
import { executionDeadline } from '../../../../src/engine/duties/execution-deadline.ts'
import { retention } from '../../../../src/engine/duties/retention.ts'
import { suspensionTimeout } from '../../../../src/engine/duties/suspension-timeout.ts'
import { limits } from '../../../../src/model/limits.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { contents, withoutWriting } from '../../../support/written.ts'
import { eventsOf, subscriber, take as takeEvents } from '../../event/subscriber.ts'
import { fenceOf, held, take, worker } from '../../execution/holder.ts'
import { answer, suspend, waiting } from './waiting.ts'
import * as stored from '../../../support/stored.ts'
import { promoteAll } from '../../../support/changes.ts'

test('CLAIM-20 a resumed execution keeps its attempt; the claim reports that, and carries the answer', async () => {
  const { engine, sql } = await setup()
  const { claim, waitpoint } = await waiting(engine)
  await answer(engine, waitpoint)
  const resumed = await take(engine)
  expect(resumed).toMatchObject({
    executionId: claim.executionId,
    reason: 'resume',
    attemptIndex: claim.attemptIndex,
    leaseEpoch: claim.leaseEpoch + 1,
    resumption: { closeReason: 'resumed', signals: [{ name: 'approved', waitpointKey: 'answer' }] },
  })
  expect(await stored.leaseEvents.pick(sql, ['lease_id'], { event_type: 'acquired' })).toEqual([
    { lease_id: claim.leaseId },
    { lease_id: resumed.leaseId },
  ])
  expect((await engine.attempts.list(claim.executionId)).attempts).toHaveLength(1)
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'active',
    state: {
      lifecyclePhase: 'active',
      ownershipState: 'leased',
      eligibilityState: 'not_applicable',
      attemptState: 'running_attempt',
    },
    lease: { leaseId: resumed.leaseId, leaseEpoch: resumed.leaseEpoch },
    suspension: null,
  })
})

test('a claim carries the signals that its own wait took, whenever they arrived, and no others', async () => {
  const { engine } = await setup()
  const both = {
    kind: 'allOf',
    members: [
      { kind: 'signal', name: 'early' },
      { kind: 'signal', waitpoint: 'answer' },
    ],
  } as const
  let claim = (await waiting(engine, { condition: { kind: 'signal', name: 'tick' } })).claim
  const { executionId } = claim
  for (const name of ['early', 'tick', 'tick']) {
    await engine.signals.send({ executionId, name })
    if (name === 'early') continue
    claim = await take(engine)
    expect(claim.resumption?.signals.map((signal) => signal.name)).toEqual([name])
    await suspend(engine, claim, { condition: { kind: 'signal', name: 'tick' } })
  }
  await engine.executions.resume({ executionId })
  const { waitpoints } = await suspend(engine, await take(engine), { condition: both })
  await answer(engine, waitpoints[0]!)
  claim = await take(engine)
  expect(claim.resumption?.signals.map((signal) => signal.name)).toEqual(['early', 'approved'])
})

test('a claim carries a MiB of signals and reports that more exist; the list has them', async () => {
  const { engine } = await setup()
  const condition = { kind: 'count', n: 5, distinct: 'signals', waitpoints: ['answer'] } as const
  const { claim, waitpoint } = await waiting(engine, { condition })
  const payloadOf = (index: number) => new Uint8Array(limits.signalBytes).fill(index)
  const { waitpointId, token } = waitpoint
  for (let index = 1; index <= 5; index += 1) {
    await engine.signals.deliver({ waitpointId, token: token!, name: `n${index}`, payload: payloadOf(index) })
  }
  const { resumption } = await take(engine)
  expect(resumption).toMatchObject({ hasMoreSignals: true, signals: [{ name: 'n1' }, { name: 'n2' }, { name: 'n3' }] })
  expect(resumption!.signals[2]!.payload).toEqual(payloadOf(3))
  const { signals } = await engine.signals.list(claim.executionId)
  expect(signals.map(({ name }) => name)).toEqual(['n1', 'n2', 'n3', 'n4', 'n5'])
  expect((await engine.suspensions.describe(claim.executionId))?.outcome?.signals).toHaveLength(5)
})

test('a claim carries payloads unchanged, of any bytes or none', async () => {
  const { engine } = await setup()
  const condition = { kind: 'count', n: 3, distinct: 'signals', waitpoints: ['answer'] } as const
  const { waitpoint } = await waiting(engine, { condition })
  const every = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  for (const payload of [every, new Uint8Array(0)]) {
    const { waitpointId, token } = waitpoint
    await engine.signals.deliver({ waitpointId, token: token!, name: 'n', payload, payloadEncoding: 'raw' })
  }
  await answer(engine, waitpoint)
  const { resumption } = await take(engine)
  expect(resumption!.hasMoreSignals).toBe(false)
  expect(resumption!.signals.map(({ payload }) => payload)).toEqual([every, new Uint8Array(0), null])
  expect(resumption!.signals.map(({ payloadEncoding }) => payloadEncoding)).toEqual(['raw', 'raw', null])
})

test('CLAIM-21 an execution that was not resumed is not claimable, with or without a grant', async () => {
  const { engine, sql } = await setup()
  const { claim } = await waiting(engine)
  const running = await held(engine)
  const { workerId, workerInstanceId } = worker
  await withoutWriting(sql, async () => {
    expect((await engine.executions.claim(worker)).claims).toEqual([])
    for (const { executionId } of [claim, running]) {
      await refusal('execution_not_runnable', engine.executions.grant({ executionId, workerId, workerInstanceId }))
    }
  })
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect(await take(engine)).toMatchObject({ executionId, reason: 'first', resumption: null })
})

test('ATT-25 a suspension costs no retry', async () => {
  const { engine, sql } = await setup()
  const policy = { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } } as const
  const { waitpoint } = await waiting(engine, {}, { policy })
  await answer(engine, waitpoint)
  expect(await engine.executions.fail({ ...fenceOf(await take(engine)), reason: 'broke' })).toMatchObject({
    kind: 'retry_scheduled',
  })
  await promoteAll(sql)
  const second = await take(engine)
  const suspension = await suspend(engine, second)
  await answer(engine, suspension.waitpoints[0]!)
  const resumed = await take(engine)
  expect(resumed).toMatchObject({ attemptIndex: 1, retryCount: 1 })
  expect(await engine.executions.fail({ ...fenceOf(resumed), reason: 'broke' })).toMatchObject({
    kind: 'retry_scheduled',
  })
  await promoteAll(sql)
  expect(await take(engine)).toMatchObject({
    attemptIndex: 2,
    retryCount: 2,
    // An attempt that failed may not have recorded the signals it received.
    resumption: { suspensionId: suspension.suspensionId, signals: [{ name: 'approved' }] },
  })
})

test('DEAD-07 a deadline ends a suspended execution and closes its suspension and waitpoints', async () => {
  const { engine, sql, clock } = await setup()
  const { claim, waitpoint } = await waiting(engine, { timeout: '2h' }, { deadline: '1h' })
  await clock.advance('61m')
  expect(await executionDeadline.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect((await engine.executions.describe(claim.executionId))?.publicState).toBe('expired')
  expect((await engine.waitpoints.list(claim.executionId)).waitpoints).toEqual([])
  expect(await engine.suspensions.describe(claim.executionId)).toMatchObject({ closeReason: 'expired' })
  await refusal('target_not_signalable', answer(engine, waitpoint))
  await clock.advance('2h')
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 0 })
})

test('an old token never wakes a later suspension, however the first one ended', async () => {
  const { engine, sql, clock } = await setup()
  const { claim, waitpoint } = await waiting(engine, {}, { deadline: '1h' })
  await clock.advance('61m')
  await executionDeadline.runOnce(sql)
  await engine.executions.replay({ executionId: claim.executionId })
  const second = await take(engine)
  await suspend(engine, second)
  await refusal('waitpoint_closed', answer(engine, waitpoint))
  await engine.executions.resume({ executionId: claim.executionId })
  const third = await take(engine)
  const { waitpoints } = await suspend(engine, third)
  await refusal('waitpoint_closed', answer(engine, waitpoint))
  expect(await answer(engine, waitpoints[0]!)).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('the deletion of an execution that waited also deletes its suspension, its waitpoints and its signals', async () => {
  const { engine, sql, clock } = await setup()
  await waiting(engine)
  const before = await contents(sql)
  const { claim, waitpoint } = await waiting(engine)
  await engine.signals.send({ executionId: claim.executionId, name: 'news' })
  await answer(engine, waitpoint)
  const resumed = await take(engine)
  await engine.waitpoints.create({ ...fenceOf(resumed), key: 'early' })
  await engine.executions.complete(fenceOf(resumed))
  await clock.advance('8d')
  expect(await retention(7 * 86_400_000).runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  // The log has a retention of its own.
  const { ff_event: _, ...after } = await contents(sql)
  expect(before).toMatchObject(after)
})

test('SUB-10 signals can be subscribed to', async () => {
  const { engine, sql } = await setup()
  const { claim, waitpoint } = await waiting(engine)
  const subscription = await subscriber(sql)({ kinds: ['signalled'] })
  const { signalId } = await answer(engine, waitpoint)
  expect(eventsOf(await takeEvents(subscription, 1))).toMatchObject([
    {
      kind: 'signalled',
      cursor: expect.any(String),
      executionId: claim.executionId,
      occurredAt: expect.any(Number),
      details: {
        signalId,
        waitpointId: waitpoint.waitpointId,
        sourceIdentity: expect.any(String),
        effect: 'resume_condition_satisfied',
      },
    },
  ])
})
