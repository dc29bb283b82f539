import { expect, test } from 'vitest'
import { delayedPromoter } from '../../../../src/engine/duties/delayed-promoter.ts'
import { limits } from '../../../../src/model/limits.ts'
import { mintUuid } from '../../../../src/model/uuid.ts'
import { formatWaitpointId, parseExecutionId } from '../../../../src/model/id.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { fenceOf, held, take, worker } from '../../execution/holder.ts'
import { forgedToken } from './forge.ts'
import { bytes, forReady, parked, stateOf } from './parked.ts'
import * as stored from '../../../support/stored.ts'
import { eventsWithTag } from '../../../support/reads.ts'

test('SIG-01 a matching signal resumes the execution, closes its waitpoints and writes its events', async () => {
  const { engine } = await setup()
  const { executionId, doors, fence } = await parked(engine)
  const answer = await engine.signals.deliver({ ...doors['door']!, name: 'ready' })
  expect(answer).toMatchObject({ kind: 'accepted', executionId, effect: 'resume_condition_satisfied' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
  expect((await engine.waitpoints.list(executionId)).waitpoints).toEqual([])
  const { events } = await engine.events.timeline(executionId)
  expect(events.slice(-2).map((event) => event.kind)).toEqual(['signalled', 'resumed'])
  const claim = await take(engine)
  expect(claim).toMatchObject({ executionId, attemptIndex: 0, leaseEpoch: fence.leaseEpoch + 1 })
})

test('SIG-02 a signal that does not match is kept, and the execution continues to wait', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const answer = await engine.signals.deliver({ ...doors['door']!, name: 'other' })
  expect(answer).toMatchObject({ effect: 'appended_to_waitpoint' })
  expect(await stateOf(engine, executionId)).toBe('suspended')
  expect((await engine.signals.list(executionId)).signals).toMatchObject([{ name: 'other', takenAt: null }])
})

test('SIG-03 a leaf without a name takes any signal', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, { kind: 'signal', waitpoint: 'door' })
  await engine.signals.deliver({ ...doors['door']!, name: 'whatever' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('SIG-05 an unknown waitpoint has the same error as a wrong token', async () => {
  const { engine } = await setup()
  const { doors } = await parked(engine)
  const { waitpointId, token } = doors['door']!
  const unknown = formatWaitpointId(7, mintUuid())
  const missing = await refusal('invalid_token', engine.signals.deliver({ waitpointId: unknown, token, name: 'ready' }))
  const wrong = { waitpointId, token: forgedToken(token), name: 'ready' }
  const forged = await refusal('invalid_token', engine.signals.deliver(wrong))
  expect(missing.toJSON()).toEqual(forged.toJSON())
})

test('SIG-06 a signal to an ended execution is refused and recorded as without effect', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  await engine.executions.cancel({ executionId })
  const error = await refusal('target_not_signalable', engine.signals.deliver({ ...doors['door']!, name: 'ready' }))
  expect(error.message).toContain('cancelled')
  expect((await engine.signals.list(executionId)).signals).toMatchObject([{ effect: 'no_op', takenAt: null }])
  expect(await stateOf(engine, executionId)).toBe('cancelled')
})

test('SIG-07 a pending waitpoint buffers early signals; a wrong token is refused, also by a closed one', async () => {
  const { engine } = await setup()
  const fence = fenceOf(await held(engine))
  const { executionId } = fence
  const { waitpointId, token } = await engine.waitpoints.create({ ...fence, key: 'door' })
  const early = await engine.signals.deliver({ waitpointId, token, name: 'other' })
  expect(early).toMatchObject({ effect: 'buffered_for_pending_waitpoint' })
  expect(await stateOf(engine, executionId)).toBe('active')
  expect((await engine.signals.list(executionId)).signals).toMatchObject([
    { signalId: early.signalId, waitpointId, waitpointKey: 'door', takenAt: null },
  ])
  expect((await engine.waitpoints.list(executionId)).waitpoints).toMatchObject([{ state: 'pending', signalCount: 1 }])
  await refusal('invalid_token', engine.signals.deliver({ waitpointId, token: 'k:00', name: 'ready' }))
  await engine.executions.suspend({ ...fence, condition: forReady, waitpoints: [{ waitpointId }] })
  await engine.signals.deliver({ waitpointId, token, name: 'ready' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
  await refusal('waitpoint_closed', engine.signals.deliver({ waitpointId, token, name: 'ready' }))
  await refusal('invalid_token', engine.signals.deliver({ waitpointId, token: 'k:00', name: 'ready' }))
})

test('an expired pending waitpoint takes no more signals, also before a duty has closed it', async () => {
  const { engine, clock } = await setup()
  const fence = fenceOf(await held(engine))
  const { waitpointId, token } = await engine.waitpoints.create({ ...fence, key: 'door', expiresIn: '10s' })
  await clock.advance('11s')
  await refusal('waitpoint_closed', engine.signals.deliver({ waitpointId, token, name: 'ready' }))
})

test('SIG-08 signals beyond the limit of the policy are refused, and none of them is stored', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine, forReady, {}, { policy: { maxSignalCount: 3 } })
  const deliver = (name: string) => engine.signals.deliver({ ...doors['door']!, name })
  for (const name of ['a', 'b', 'c']) await deliver(name)
  await withoutWriting(sql, async () => {
    await refusal('signal_limit_exceeded', deliver('d'))
    await refusal('signal_limit_exceeded', engine.signals.send({ executionId, name: 'd' }))
  })
})

test('SIG-08 without a policy the limit is ten thousand', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await parked(engine)
  const send = () => engine.signals.send({ executionId, name: 'other' })
  await Promise.all(Array.from({ length: 9999 }, send))
  expect(await send()).toMatchObject({ kind: 'accepted' })
  await withoutWriting(sql, () => refusal('signal_limit_exceeded', send()))
})

test('one waitpoint takes at most a thousand signals, also when they arrive in one set', async () => {
  const { engine, sql } = await setup()
  const { doors } = await parked(engine)
  const request = { ...doors['door']!, name: 'other' }
  await engine.signals.deliver(request)
  const changed = { signal_no: '-n', signal_id: 'gen_random_uuid()' }
  await stored.signals.multiply(sql, limits.waitpointSignalCount - 3, changed)
  const answers = await engine.signals.deliverMany([request, request, request])
  expect(answers.map((answer) => answer.kind)).toEqual(['accepted', 'accepted', 'refused'])
  expect(answers[2]).toMatchObject({ error: { code: 'signal_limit_exceeded' } })
})

test('SIG-09 the delay that the suspension set applies after the signal', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId, doors } = await parked(engine, forReady, { resumeDelay: 500 })
  await clock.freeze()
  await engine.signals.deliver({ ...doors['door']!, name: 'ready' })
  const now = await clock.now()
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'delayed',
    delayUntil: now + 500,
    blockingReason: 'waiting_for_resume_delay',
  })
  expect((await engine.executions.claim(worker)).claims).toEqual([])
  await clock.advance(500)
  await delayedPromoter.runOnce(sql)
  expect(await stateOf(engine, executionId)).toBe('resumable')
  expect(await take(engine)).toMatchObject({
    executionId,
    reason: 'resume',
    resumption: { signals: [{ name: 'ready' }] },
  })
})

test('SIG-12 a signal waits while another transaction locks the execution, and is not half applied', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine)
  const priorities = Array.from({ length: 20 }, (_, priority) =>
    engine.executions.changePriority({ executionId, priority }),
  )
  const [answer] = await Promise.all([engine.signals.deliver({ ...doors['door']!, name: 'ready' }), ...priorities])
  expect(answer).toMatchObject({ effect: 'resume_condition_satisfied' })
  expect(await stored.signals.pick(sql, ['effect', 'taken_at_ms'])).toEqual([
    { effect: 'resume_condition_satisfied', taken_at_ms: expect.any(Number) },
  ])
})

test('SIG-13 a signal writes an event with its content, its sender and its effect', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const { doors, executionId } = await parked(engine, forReady, {}, { tags: { 'app.instance': 'seven' } })
  const { waitpointId } = doors['door']!
  const answer = await engine.as({ actor: 'gateway' }).signals.deliver({
    ...doors['door']!,
    name: 'other',
    category: 'callback',
    sourceType: 'webhook',
    sourceIdentity: 'shop',
  })
  const details = {
    signalId: answer.signalId,
    signalName: 'other',
    waitpointId,
    effect: 'appended_to_waitpoint',
    category: 'callback',
    sourceType: 'token',
    sourceIdentity: waitpointId,
    claimedType: 'webhook',
    claimedIdentity: 'shop',
  }
  const { events } = await engine.events.timeline(executionId)
  expect(events.at(-1)).toMatchObject({ kind: 'signalled', actor: 'gateway', namespace: 'default', details })
  const columns = ['execution_id', 'occurred_at_ms', 'namespace', 'details']
  expect(await eventsWithTag(sql, stored.signalEvents, columns, 'app.instance')).toEqual([
    {
      execution_id: parseExecutionId(executionId).uuid,
      occurred_at_ms: await clock.now(),
      namespace: 'default',
      details,
      tag_value: 'seven',
    },
  ])
})

test('subscribers receive deliveries, and no event contains a token', async () => {
  const { engine } = await setup()
  const { doors } = await parked(engine)
  const subscription = await engine.events.subscribe({ kinds: ['signalled'] })
  await engine.signals.deliver({ ...doors['door']!, name: 'ready' })
  for await (const event of subscription) {
    expect(event).toMatchObject({ kind: 'signalled', details: { signalName: 'ready' } })
    expect(JSON.stringify(event)).not.toContain(doors['door']!.token)
    break
  }
})

test('SIG-14 a payload returns byte for byte, and an absent one as absent', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const payload = Uint8Array.from({ length: 256 }, (_, index) => index)
  await engine.signals.deliver({ ...doors['door']!, name: 'a', payload, payloadEncoding: 'binary' })
  await engine.signals.deliver({ ...doors['door']!, name: 'b' })
  const { signals } = await engine.signals.list(executionId)
  expect(signals.map((signal) => [signal.payload, signal.payloadEncoding])).toEqual([
    [payload, 'binary'],
    [null, null],
  ])
})

test('a sender may not use the idempotency keys of approvals and links', async () => {
  const { engine, sql } = await setup()
  const { doors } = await parked(engine)
  await withoutWriting(sql, async () => {
    const request = { ...doors['door']!, name: 'ready' }
    for (const idempotencyKey of ['approval:ready:1', 'link:0']) {
      await refusal('invalid_input', engine.signals.deliver({ ...request, idempotencyKey }))
    }
  })
})

test('bad contents are refused with the name of the field, and nothing is written', async () => {
  const { engine, sql } = await setup()
  const { doors } = await parked(engine)
  const request = { ...doors['door']!, name: 'ready' }
  const { deliver } = engine.signals
  await withoutWriting(sql, async () => {
    for (const name of ['', 'a\nb', 'x'.repeat(257), 7])
      await refusal('invalid_input', deliver({ ...request, name } as never))
    for (const field of ['category', 'correlationId', 'idempotencyKey', 'sourceType']) {
      await refusal('invalid_input', deliver({ ...request, [field]: '' }))
    }
    await refusal('invalid_input', deliver({ ...request, payload: 'text' } as never))
    await refusal('invalid_input', deliver({ ...request, payloadEncoding: 'json' }))
    await refusal('invalid_input', deliver({ ...request, playload: bytes(1) } as never))
    await refusal('invalid_id', deliver({ ...request, waitpointId: 'none' }))
    const payload = new Uint8Array(limits.signalBytes + 1)
    const error = await refusal('payload_too_large', deliver({ ...request, payload }))
    expect(error.details).toMatchObject({ limit: 262_144 })
  })
  const payload = new Uint8Array(limits.signalBytes)
  expect(await deliver({ ...request, name: 'other', payload, payloadEncoding: 'zeroes' })).toMatchObject({
    kind: 'accepted',
  })
})
