// Suspensions that keep their waitpoints: waitpoints without an answer stay open for the next one.
import { expect, test } from 'vitest'
import type { Condition } from '../../../../src/model/condition.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { fenceOf, held, take } from '../../execution/holder.ts'
import { answer, suspend, waiting } from './waiting.ts'

const either: Condition = {
  kind: 'anyOf',
  members: [
    { kind: 'signal', waitpoint: 'one' },
    { kind: 'signal', waitpoint: 'other' },
  ],
}
const keeping = { condition: either, keepWaitpoints: true } as const

test('an answered waitpoint is closed; the other is pending, and the next suspension takes it over by its key', async () => {
  const { engine } = await setup()
  const { claim, suspension } = await waiting(engine, keeping)
  const [one, other] = suspension.waitpoints
  await answer(engine, one!)
  await refusal('waitpoint_closed', answer(engine, one!))
  expect((await engine.waitpoints.list(claim.executionId)).waitpoints).toMatchObject([
    { waitpointId: other!.waitpointId, state: 'pending' },
  ])
  const again = await suspend(engine, await take(engine), {
    condition: { kind: 'signal', waitpoint: 'other' },
    keepWaitpoints: true,
  })
  expect(again.waitpoints).toMatchObject([{ waitpointId: other!.waitpointId, key: 'other', token: other!.token }])
  expect(await answer(engine, other!)).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('signals that a kept waitpoint has received count in the next suspension', async () => {
  const { engine } = await setup()
  const twice = { kind: 'count', n: 2, distinct: 'signals', waitpoints: ['other'] } as const
  const condition: Condition = { kind: 'anyOf', members: [{ kind: 'signal', waitpoint: 'one' }, twice] }
  const { suspension } = await waiting(engine, { condition, keepWaitpoints: true })
  const [one, other] = suspension.waitpoints
  expect(await answer(engine, other!, 'first')).toMatchObject({ effect: 'appended_to_waitpoint' })
  await answer(engine, one!)
  expect(await answer(engine, other!, 'second')).toMatchObject({ effect: 'buffered_for_pending_waitpoint' })
  const claim = await take(engine)
  const tried = await engine.executions.trySuspend({ ...fenceOf(claim), condition: twice, keepWaitpoints: true })
  expect(tried).toMatchObject({
    kind: 'already_satisfied',
    resumption: { signals: [{ name: 'first' }, { name: 'second' }] },
  })
  await refusal('waitpoint_closed', answer(engine, other!))
})

test('a suspension closes fresh waitpoints of the previous one that it does not use; those created ahead stay', async () => {
  const { engine } = await setup()
  const first = await held(engine)
  const ahead = await engine.waitpoints.create({ ...fenceOf(first), key: 'ahead' })
  const condition: Condition = {
    kind: 'anyOf',
    members: [...either.members, { kind: 'signal', waitpoint: 'ahead' }],
  }
  const bindings = [{ key: 'one' }, { key: 'other' }, { waitpointId: ahead.waitpointId }]
  const { waitpoints } = await suspend(engine, first, { condition, waitpoints: bindings, keepWaitpoints: true })
  await answer(engine, waitpoints[0]!)
  await suspend(engine, await take(engine), {
    condition: { kind: 'signal', waitpoint: 'third' },
    keepWaitpoints: true,
  })
  await refusal('waitpoint_closed', answer(engine, waitpoints[1]!))
  const { waitpointId, token } = ahead
  expect(await engine.signals.deliver({ waitpointId, token, name: 'early' })).toMatchObject({
    effect: 'buffered_for_pending_waitpoint',
  })
})

test('two answers in one set: the first wakes the execution, the second waits for the next suspension', async () => {
  const { engine } = await setup()
  const { suspension } = await waiting(engine, keeping)
  const answers = suspension.waitpoints.map(({ waitpointId, token }) => ({ waitpointId, token: token!, name: 'yes' }))
  expect(await engine.signals.deliverMany(answers)).toMatchObject([
    { effect: 'resume_condition_satisfied' },
    { effect: 'buffered_for_pending_waitpoint' },
  ])
})

test('an ending closes the kept waitpoints, and an operator who resumes closes none', async () => {
  const { engine } = await setup()
  const { claim, suspension } = await waiting(engine, keeping)
  await engine.executions.resume({ executionId: claim.executionId })
  expect((await engine.waitpoints.list(claim.executionId)).waitpoints).toHaveLength(2)
  await engine.executions.complete(fenceOf(await take(engine)))
  expect((await engine.waitpoints.list(claim.executionId)).waitpoints).toEqual([])
  await refusal('target_not_signalable', answer(engine, suspension.waitpoints[0]!))
})

test('without the option all are closed, and its value is true or false', async () => {
  const { engine } = await setup()
  const { suspension } = await waiting(engine, { condition: either })
  await answer(engine, suspension.waitpoints[0]!)
  await refusal('waitpoint_closed', answer(engine, suspension.waitpoints[1]!))
  const claim = await take(engine)
  const asked = { ...fenceOf(claim), condition: either, keepWaitpoints: 'yes' as unknown as boolean }
  const { message } = await refusal('invalid_input', engine.executions.suspend(asked))
  expect(message).toContain('keepWaitpoints')
})

test('a repeat of the suspend that created them returns the same tokens, also when they have outlived it', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const ahead = await engine.waitpoints.create({ ...fenceOf(claim), key: 'ahead' })
  const asked = {
    condition: { kind: 'anyOf', members: [...either.members, { kind: 'signal', waitpoint: 'ahead' }] },
    waitpoints: [{ key: 'other' }, { waitpointId: ahead.waitpointId }, { key: 'one' }],
    keepWaitpoints: true,
    idempotencyKey: 'k',
  } as const
  const first = await suspend(engine, claim, asked)
  await answer(engine, first.waitpoints[2]!)
  expect(first.waitpoints).toHaveLength(3)
  expect(await suspend(engine, claim, asked)).toEqual(first)
})
