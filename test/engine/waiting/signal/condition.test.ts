// Conditions with more than one leaf, and real signals that satisfy them.
import { expect, test } from 'vitest'
import { createEngine } from '../../../../src/engine/engine.ts'
import type { Condition } from '../../../../src/model/condition.ts'
import { setup } from '../../../support/setup.ts'
import { take } from '../../execution/holder.ts'
import { bytes, parked, stateOf } from './parked.ts'
import * as stored from '../../../support/stored.ts'

const leaf = (waitpoint: string, name?: string): Condition =>
  name === undefined ? { kind: 'signal', waitpoint } : { kind: 'signal', waitpoint, name }

test('COMP-01 allOf over two waitpoints waits for both, in any order', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, { kind: 'allOf', members: [leaf('a'), leaf('b')] })
  const deliver = (key: string) => engine.signals.deliver({ ...doors[key]!, name: 'yes' })
  expect(await deliver('b')).toMatchObject({ effect: 'appended_to_waitpoint' })
  expect(await deliver('b')).toMatchObject({ effect: 'appended_to_waitpoint_duplicate' })
  expect(await stateOf(engine, executionId)).toBe('suspended')
  expect(await deliver('a')).toMatchObject({ effect: 'resume_condition_satisfied' })
  const { resumption } = await take(engine)
  expect(resumption?.signals.map((signal) => signal.waitpointKey)).toEqual(['b', 'a'])
})

test('COMP-03 signals and waitpoints can be counted too', async () => {
  const { engine } = await setup()
  const bySignal = await parked(engine, { kind: 'count', n: 2, distinct: 'signals', waitpoints: ['door'] })
  const deliver = (doors: typeof bySignal.doors, key: string) => engine.signals.deliver({ ...doors[key]!, name: 'yes' })
  expect(await deliver(bySignal.doors, 'door')).toMatchObject({ effect: 'appended_to_waitpoint' })
  expect(await deliver(bySignal.doors, 'door')).toMatchObject({ effect: 'resume_condition_satisfied' })
  await take(engine)
  const byWaitpoint = await parked(engine, { kind: 'count', n: 2, distinct: 'waitpoints', waitpoints: ['a', 'b'] })
  expect(await deliver(byWaitpoint.doors, 'a')).toMatchObject({ effect: 'appended_to_waitpoint' })
  expect(await deliver(byWaitpoint.doors, 'a')).toMatchObject({ effect: 'appended_to_waitpoint_duplicate' })
  expect(await deliver(byWaitpoint.doors, 'b')).toMatchObject({ effect: 'resume_condition_satisfied' })
})

test('COMP-04 no signal satisfies an operator-only or timeout-only condition, whatever its name', async () => {
  const { engine } = await setup()
  for (const condition of [{ kind: 'operator' }, { kind: 'timeout' }] as const) {
    const waitpoints = [{ key: 'door' }]
    const { executionId, doors } = await parked(engine, condition, { waitpoints, timeout: '1h' })
    for (const name of ['yes', '__operator_only__', '__timeout_only__', 'timeout']) {
      expect(await engine.signals.deliver({ ...doors['door']!, name })).toMatchObject({
        effect: 'appended_to_waitpoint',
      })
    }
    expect(await stateOf(engine, executionId)).toBe('suspended')
    await engine.executions.cancel({ executionId })
  }
})

test('COMP-06 a stored condition of an unknown shape is never satisfied', async () => {
  const { engine, sql } = await setup()
  const { executionId, doors } = await parked(engine, leaf('door'))
  for (const condition of [{ kind: 'oracle' }, { kind: 'count', n: 1, distinct: 'moods', waitpoints: ['door'] }]) {
    await stored.suspensions.change(sql, { condition: JSON.stringify(condition) })
    // The engine that suspended it remembers what it wrote.
    await createEngine(sql).signals.deliver({ ...doors['door']!, name: 'yes' })
    expect(await stateOf(engine, executionId)).toBe('suspended')
  }
})

test('two counts never share the signals they counted', async () => {
  const { engine } = await setup()
  const count = (waitpoint: string): Condition => ({
    kind: 'count',
    n: 2,
    distinct: 'signals',
    waitpoints: [waitpoint],
  })
  const { executionId, doors } = await parked(engine, { kind: 'allOf', members: [count('a'), count('b')] })
  for (const key of ['a', 'b', 'a']) {
    await engine.signals.deliver({ ...doors[key]!, name: 'yes' })
    expect(await stateOf(engine, executionId)).toBe('suspended')
  }
  await engine.signals.deliver({ ...doors['b']!, name: 'yes' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('in four levels, every node keeps what satisfied it: one signal serves several nodes, and none uses it up for another', async () => {
  const { engine } = await setup()
  const count = { kind: 'count', n: 2, waitpoints: ['a', 'b'] } as const
  const ofAnn: Condition = {
    kind: 'signal',
    waitpoint: 'a',
    source: { type: 'operator', identity: 'ann' },
    payload: { path: ['ok'], equals: true },
  }
  const said: Condition = {
    kind: 'allOf',
    members: [
      { kind: 'signal', name: 'go' },
      { kind: 'count', n: 2, distinct: 'sources', name: 'vote' },
    ],
  }
  const answered: Condition = {
    kind: 'allOf',
    members: [{ ...count, distinct: 'sources' }, { ...count, distinct: 'waitpoints' }, ofAnn],
  }
  const condition: Condition = {
    kind: 'allOf',
    members: [
      { kind: 'anyOf', members: [{ kind: 'operator' }, answered] },
      { kind: 'anyOf', members: [{ kind: 'timeout' }, { kind: 'time', at: 9_000_000_000_000 }, said] },
    ],
  }
  const { executionId, doors } = await parked(engine, condition, { timeout: '1h' })
  let suffix = 0
  const deliver = async (key: string, actor: string, ok: boolean) => {
    const { waitpointId } = doors[key]!
    suffix += 1
    const request = { waitpointId, name: 'yes', idempotencySuffix: `${suffix}`, payload: bytes({ ok }) }
    return (await engine.as({ actor }).signals.approve(request)).signalId
  }
  const send = (name: string, actor: string) => engine.as({ actor }).signals.send({ executionId, name })
  const first = await deliver('a', 'ann', false)
  const second = await deliver('b', 'ann', true)
  const third = await deliver('a', 'bob', true)
  const fourth = await deliver('a', 'ann', true)
  const go = (await send('go', 'eve')).signalId
  const vote = (await send('vote', 'eve')).signalId
  await send('vote', 'eve')
  expect(await stateOf(engine, executionId)).toBe('suspended')
  const last = await send('vote', 'dan')
  expect(last).toMatchObject({ effect: 'resume_condition_satisfied' })
  const signals = [first, second, third, fourth, go, vote, last.signalId]
  const { closeReason, outcome } = (await engine.suspensions.describe(executionId))!
  expect({ closeReason, ...outcome }).toMatchObject({
    closeReason: 'resumed',
    winners: { 'members[0]': 'members[0].members[1]', 'members[1]': 'members[1].members[2]' },
    satisfiers: {
      'members[0].members[1].members[0]': [first, third],
      'members[0].members[1].members[1]': [first, second],
      'members[0].members[1].members[2]': [fourth],
      'members[1].members[2].members[0]': [go],
      'members[1].members[2].members[1]': [vote, last.signalId],
    },
    signals,
  })
  const { resumption } = await take(engine)
  expect(resumption!.signals.map(({ signalId }) => signalId)).toEqual(signals)
})

test('anyOf reports which leaf won, and takes only its signal', async () => {
  const { engine } = await setup()
  const nested: Condition = {
    kind: 'anyOf',
    members: [leaf('a', 'yes'), { kind: 'allOf', members: [leaf('b'), leaf('c')] }],
  }
  const { executionId, doors } = await parked(engine, nested)
  await engine.signals.deliver({ ...doors['b']!, name: 'half' })
  await engine.signals.deliver({ ...doors['a']!, name: 'yes' })
  const { resumption } = await take(engine)
  expect(resumption).toMatchObject({ winners: { '<root>': 'members[0]' } })
  expect(resumption!.signals.map((signal) => signal.name)).toEqual(['yes'])
  const { signals } = await engine.signals.list(executionId)
  expect(signals.map((signal) => [signal.name, signal.takenAt !== null])).toEqual([
    ['half', false],
    ['yes', true],
  ])
})

test('a signal through a waitpoint that no leaf takes, and one that no leaf fits, are recorded as ignored', async () => {
  const { engine } = await setup()
  const condition: Condition = { kind: 'allOf', members: [leaf('a', 'yes'), leaf('b', 'yes')] }
  const { executionId, doors } = await parked(engine, condition)
  const answer = await engine.signals.deliver({ ...doors['a']!, name: 'no' })
  expect(answer).toMatchObject({ effect: 'signal_ignored_matcher_failed' })
  for (const key of ['a', 'b']) await engine.signals.deliver({ ...doors[key]!, name: 'yes' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('a predicate reads plain JSON payloads, also those that arrived before', async () => {
  const { engine } = await setup()
  const approved: Condition = { kind: 'signal', waitpoint: 'door', payload: { path: ['approved'], equals: true } }
  const { executionId, doors } = await parked(engine, { kind: 'allOf', members: [approved, leaf('side')] })
  const deliver = (payload: Uint8Array) => engine.signals.deliver({ ...doors['door']!, name: 'answer', payload })
  expect(await deliver(bytes({ approved: false }))).toMatchObject({ effect: 'signal_ignored_matcher_failed' })
  expect(await deliver(Buffer.from('not json'))).toMatchObject({ effect: 'signal_ignored_matcher_failed' })
  expect(await deliver(bytes({ approved: true }))).toMatchObject({ effect: 'appended_to_waitpoint' })
  await engine.signals.deliver({ ...doors['side']!, name: 'go' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('a signal that leaves only a time to wait for sets the timer', async () => {
  const { engine, sql, clock } = await setup()
  const at = (await clock.now()) + 3_600_000
  const { doors } = await parked(engine, { kind: 'allOf', members: [leaf('door'), { kind: 'time', at }] })
  const timer = async () => (await stored.suspensions.pick(sql, ['wake_at_ms']))[0]!['wake_at_ms']
  expect(await timer()).toBeNull()
  await engine.signals.deliver({ ...doors['door']!, name: 'yes' })
  expect(await timer()).toBe(at)
})
