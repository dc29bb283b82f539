// Signals that end a wait by themselves take a shorter path than others. The results must be the same.
import { expect, test } from 'vitest'
import { createEngine } from '../../../../src/engine/engine.ts'
import type { Condition } from '../../../../src/model/condition.ts'
import { around } from '../../../../src/sql/around.ts'
import type { Sql } from '../../../../src/sql/sql.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { fenceOf, take } from '../../execution/holder.ts'
import { parked, stateOf } from './parked.ts'

const leaf = (waitpoint: string): Condition => ({ kind: 'signal', waitpoint })
const byName: Condition = { kind: 'signal', name: 'go' }
const either: Condition = { kind: 'anyOf', members: [leaf('door'), byName] }

async function counting() {
  const { sql, ...rest } = await setup()
  const counted = { sent: 0 }
  const count = <T>(ask: () => Promise<T>): Promise<T> => {
    counted.sent += 1
    return ask()
  }
  // A hint is sent separately after a commit, at any time: `query` is not counted.
  const counting = {
    ...around(sql, (ask) => ask()),
    pipeline: (calls, options) => count(() => sql.pipeline(calls, options)),
    decide: (reads, decide, options) => count(() => sql.decide(reads, decide, options)),
  } satisfies Sql
  return { ...rest, sql, engine: createEngine(counting), other: createEngine(counting), counted }
}

test('a signal that ends a wait is read and settled, by its token or by name; any other is evaluated', async () => {
  const { engine, other, counted } = await counting()
  const sentBy = async (act: () => Promise<unknown>): Promise<number> => {
    counted.sent = 0
    await act()
    return counted.sent
  }
  const first = await parked(engine, either)
  const { executionId } = await parked(engine, either)
  const busy = await parked(engine, { kind: 'count', n: 2, distinct: 'signals', waitpoints: ['door'] })
  expect(await sentBy(() => other.signals.deliver({ ...first.doors['door']!, name: 'yes' }))).toBe(2)
  expect(await stateOf(engine, first.executionId)).toBe('resumable')
  expect(await sentBy(() => other.signals.send({ executionId, name: 'go' }))).toBe(2)
  expect(await sentBy(() => engine.signals.deliver({ ...busy.doors['door']!, name: 'a' }))).toBe(2)
  expect(await sentBy(() => engine.signals.deliver({ ...busy.doors['door']!, name: 'b' }))).toBe(1)
  expect(await stateOf(engine, busy.executionId)).toBe('resumable')
})

test('waitpoints that this process opened are not read again, by token or by name, and a wrong token takes as long as an unknown waitpoint', async () => {
  const { engine, sql, counted } = await counting()
  const sentBy = async (act: () => Promise<unknown>): Promise<number> => {
    counted.sent = 0
    await act()
    return counted.sent
  }
  const door = async () => (await parked(engine, leaf('door'))).doors['door']!
  const named = await parked(engine, byName)
  const [own, second, guessed, foreign] = [await door(), await door(), await door(), await door()]
  expect(await sentBy(() => engine.signals.deliver({ ...own, name: 'yes' }))).toBe(1)
  await refusal('waitpoint_closed', engine.signals.deliver({ ...own, name: 'yes' }))
  expect(await sentBy(() => engine.signals.send({ executionId: named.executionId, name: 'go' }))).toBe(1)
  expect(await stateOf(engine, named.executionId)).toBe('resumable')

  const wrong = sentBy(() =>
    refusal('invalid_token', engine.signals.deliver({ ...guessed, token: own.token, name: 'a' })),
  )
  expect(await wrong).toBe(1)
  const waitpointId = guessed.waitpointId.replace(/.{12}$/, '000000000000') as typeof guessed.waitpointId
  const unknown = sentBy(() => refusal('invalid_token', engine.signals.deliver({ ...guessed, waitpointId, name: 'a' })))
  expect(await unknown).toBe(1)
  expect(await engine.signals.deliver({ ...guessed, name: 'yes' })).toMatchObject({
    effect: 'resume_condition_satisfied',
  })

  await refusal('invalid_token', engine.as({ namespace: 'b' }).signals.deliver({ ...foreign, name: 'yes' }))
  const elsewhere = await createEngine(sql).signals.deliver({ ...second, name: 'yes' })
  expect(elsewhere).toMatchObject({ effect: 'resume_condition_satisfied' })
  await refusal('waitpoint_closed', engine.signals.deliver({ ...second, name: 'yes' }))
})

test('a key that is removed takes its tokens with it, also where the waitpoint was opened', async () => {
  const { engine, clock } = await setup()
  const { executionId, doors } = await parked(engine, leaf('door'))
  await engine.signingKeys.rotate({ grace: '1m' })
  await clock.advance('61s')
  await refusal('invalid_token', engine.signals.deliver({ ...doors['door']!, name: 'yes' }))
  expect(await stateOf(engine, executionId)).toBe('suspended')
})

test('the next claim returns which leaf won and by which signal; the signalled event is before the resumed event', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, either)
  const { signalId } = await engine.signals.deliver({ ...doors['door']!, name: 'yes', payload: Buffer.from('7') })
  expect(await engine.suspensions.describe(executionId)).toMatchObject({
    closeReason: 'resumed',
    outcome: { winners: { '<root>': 'members[0]' }, satisfiers: { 'members[0]': [signalId] }, signals: [signalId] },
  })
  const { events } = await engine.events.timeline(executionId)
  expect(events.map(({ kind }) => kind).slice(-2)).toEqual(['signalled', 'resumed'])
  const { resumption } = await take(engine)
  expect(resumption).toMatchObject({ winners: { '<root>': 'members[0]' }, signals: [{ signalId, name: 'yes' }] })
})

test('a key that was used by a signal which ended nothing returns that signal', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine)
  const deliver = (name: string) => engine.signals.deliver({ ...doors['door']!, name, idempotencyKey: 'k' })
  const first = await deliver('other')
  expect(await deliver('ready')).toEqual({ ...first, kind: 'duplicate' })
  expect(await stateOf(engine, executionId)).toBe('suspended')
})

test('a key that an earlier wait has taken by name does not end a later one', async () => {
  const { engine } = await setup()
  const { executionId } = await parked(engine, byName)
  const send = () => engine.signals.send({ executionId, name: 'go', idempotencyKey: 'k' })
  expect(await send()).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  await engine.executions.suspend({ ...fenceOf(await take(engine)), condition: byName })
  expect(await send()).toMatchObject({ kind: 'duplicate' })
  expect(await stateOf(engine, executionId)).toBe('suspended')
})

test('of two signals that arrive together, through a waitpoint and by name, one ends the wait', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, either)
  const answers = await Promise.allSettled([
    engine.signals.deliver({ ...doors['door']!, name: 'yes' }),
    engine.signals.send({ executionId, name: 'go' }),
  ])
  const effects = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.effect : 'refused'))
  expect(effects).toEqual(['resume_condition_satisfied', 'kept_for_condition'])
  expect((await take(engine)).resumption).toMatchObject({ signals: [{ name: 'yes' }] })
})

test('the first signal of a set decides, also when it has to be evaluated', async () => {
  const { engine } = await setup()
  const { executionId } = await parked(engine, { kind: 'signal', name: 'go', payload: { path: ['ok'], equals: true } })
  const say = (ok: boolean) => Buffer.from(JSON.stringify({ ok }))
  const answers = await engine.signals.sendMany([
    { executionId, name: 'go', payload: say(false) },
    { executionId, name: 'go', payload: say(true) },
    { executionId, name: 'go', payload: say(true) },
  ])
  expect(answers).toMatchObject([
    { effect: 'kept_for_condition' },
    { effect: 'resume_condition_satisfied' },
    { effect: 'kept_for_condition' },
  ])
})

test('a point in time that has come satisfies the condition before a later signal, whether or not the duty has run', async () => {
  const { engine, clock } = await setup()
  const at = (await engine.serverTime()) + 1000
  const { executionId, doors } = await parked(engine, { kind: 'anyOf', members: [leaf('door'), { kind: 'time', at }] })
  await clock.advance('2s')
  await engine.signals.deliver({ ...doors['door']!, name: 'yes' })
  expect(await engine.suspensions.describe(executionId)).toMatchObject({
    outcome: { winners: { '<root>': 'members[1]' }, signals: [] },
  })
})

test('SIG-08 the last signal that the policy allows may end the wait, and one more is refused', async () => {
  const { engine } = await setup()
  for (const maxSignalCount of [1, 2]) {
    const { executionId, doors } = await parked(engine, either, {}, { policy: { maxSignalCount } })
    await engine.signals.send({ executionId, name: 'other' })
    const answer = engine.signals.deliver({ ...doors['door']!, name: 'yes' })
    if (maxSignalCount === 1) await refusal('signal_limit_exceeded', answer)
    else expect(await answer).toMatchObject({ effect: 'resume_condition_satisfied' })
    await engine.executions.cancel({ executionId })
  }
})

test('SIG-08 a replay starts the count anew', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, leaf('door'), {}, { policy: { maxSignalCount: 1 } })
  await engine.signals.deliver({ ...doors['door']!, name: 'yes' })
  await refusal('signal_limit_exceeded', engine.signals.send({ executionId, name: 'go' }))
  await engine.executions.complete(fenceOf(await take(engine)))
  await engine.executions.replay({ executionId })
  expect(await engine.signals.send({ executionId, name: 'go' })).toMatchObject({ kind: 'accepted' })
  await refusal('signal_limit_exceeded', engine.signals.send({ executionId, name: 'go' }))
})
