// Signals that arrive twice, too late, together, or with an old token.
import { expect, test } from 'vitest'
import { suspensionTimeout } from '../../../../src/engine/duties/suspension-timeout.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { forReady, parked, parkedAgain, stateOf, type Parked } from './parked.ts'
import * as stored from '../../../support/stored.ts'

test("the same key is a duplicate that receives the first one's effect, also when the waitpoint has closed since", async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const request = { ...doors['door']!, name: 'ready', idempotencyKey: 'once' }
  const first = await engine.signals.deliver(request)
  const again = { ...first, kind: 'duplicate' }
  expect(await engine.signals.deliver(request)).toEqual(again)
  await engine.executions.cancel({ executionId })
  expect(await engine.signals.deliver(request)).toEqual(again)
  expect((await engine.signals.list(executionId)).signals).toHaveLength(1)
})

test('duplicates are found within one set too, and each waitpoint has keys of its own', async () => {
  const { engine } = await setup()
  const leaf = (waitpoint: string) => ({ kind: 'signal', waitpoint }) as const
  const { executionId, doors } = await parked(engine, { kind: 'allOf', members: [leaf('a'), leaf('b'), leaf('c')] })
  const request = (key: string) => ({ ...doors[key]!, name: 'yes', idempotencyKey: 'once' })
  const answers = await engine.signals.deliverMany([request('a'), request('a'), request('b')])
  expect(answers.map((answer) => answer.kind)).toEqual(['accepted', 'duplicate', 'accepted'])
  expect((await engine.signals.list(executionId)).signals).toHaveLength(2)
})

test('a late signal is refused each time, recorded without effect, and uses up no key', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  await engine.signals.deliver({ ...doors['door']!, name: 'ready' })
  const late = { ...doors['door']!, name: 'ready', idempotencyKey: 'late' }
  const first = await refusal('waitpoint_closed', engine.signals.deliver(late))
  const second = await refusal('waitpoint_closed', engine.signals.deliver(late))
  expect(second.toJSON()).toEqual(first.toJSON())
  const { signals } = await engine.signals.list(executionId)
  expect(signals.map((signal) => signal.effect)).toEqual(['resume_condition_satisfied', 'no_op', 'no_op'])
})

test('a signal that was refused because the execution had ended is accepted with the same key when it runs again', async () => {
  const { engine } = await setup()
  const { executionId } = await parked(engine)
  await engine.executions.cancel({ executionId })
  const request = { executionId, name: 'go', idempotencyKey: 'once' }
  await refusal('target_not_signalable', engine.signals.send(request))
  await engine.executions.replay({ executionId })
  expect(await engine.signals.send(request)).toMatchObject({ kind: 'accepted', effect: 'kept_for_condition' })
  expect(await engine.signals.send(request)).toMatchObject({ kind: 'duplicate', effect: 'kept_for_condition' })
})

test('a key that was used in an older generation is free in the new one, where the first signal has no effect', async () => {
  const { engine } = await setup()
  const { executionId } = await parked(engine, { kind: 'signal', name: 'go' })
  const request = { executionId, name: 'go', idempotencyKey: 'once' }
  await engine.signals.send(request)
  await engine.executions.cancel({ executionId })
  expect(await engine.signals.send(request)).toMatchObject({ kind: 'duplicate' })
  await engine.executions.replay({ executionId })
  await parkedAgain(engine, { kind: 'signal', name: 'go' })
  expect(await engine.signals.send(request)).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  expect(await engine.signals.send(request)).toMatchObject({ kind: 'duplicate', effect: 'resume_condition_satisfied' })
})

test('an old token never wakes a later suspension: after a signal, a resume, a timeout or an ending', async () => {
  const { engine, sql, clock } = await setup()
  const ready = ({ doors }: Parked) => engine.signals.deliver({ ...doors['door']!, name: 'ready' })
  const answered = await parked(engine)
  const { executionId } = answered
  await ready(answered)
  const resumed = await parkedAgain(engine)
  await engine.executions.resume({ executionId })
  const timing = { timeout: '1h', timeoutBehaviour: 'auto_resume_with_timeout_signal' } as const
  const timedOut = await parkedAgain(engine, forReady, timing)
  await clock.advance('2h')
  await suspensionTimeout.runOnce(sql)
  const ended = await parkedAgain(engine)
  await engine.executions.cancel({ executionId })
  await engine.executions.replay({ executionId })
  const last = await parkedAgain(engine)
  for (const old of [answered, resumed, timedOut, ended]) {
    await refusal('waitpoint_closed', ready(old))
    expect(await stateOf(engine, executionId)).toBe('suspended')
  }
  await ready(last)
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('the effect of one signal of a set counts for the next: the first resumes, the second is late', async () => {
  const { engine } = await setup()
  const { doors, executionId } = await parked(engine)
  const request = { ...doors['door']!, name: 'ready' }
  const answers = await engine.signals.deliverMany([request, request])
  expect(answers).toMatchObject([
    { kind: 'accepted', effect: 'resume_condition_satisfied' },
    { kind: 'refused', error: { code: 'waitpoint_closed' } },
  ])
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('one bad item of many is refused at its position and delays none of the others', async () => {
  const { engine } = await setup()
  const [one, two] = [await parked(engine), await parked(engine)]
  const answers = await engine.signals.deliverMany([
    { ...one.doors['door']!, name: 'ready' },
    { ...two.doors['door']!, token: 'k:00', name: 'ready' },
    { ...two.doors['door']!, name: '' },
    { ...two.doors['door']!, name: 'ready' },
  ])
  expect(answers.map((answer) => (answer.kind === 'refused' ? answer.error.code : answer.kind))).toEqual([
    'accepted',
    'invalid_token',
    'invalid_input',
    'accepted',
  ])
})

test('twenty signals at once to one suspension: one satisfies it, the others are late', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine)
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, () => engine.signals.deliver({ ...doors['door']!, name: 'ready' })),
  )
  expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
  expect(await stateOf(engine, executionId)).toBe('resumable')
  expect(await stored.signals.count(sql, { taken_at_ms: stored.present })).toBe(1)
})
