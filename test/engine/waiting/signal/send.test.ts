import { expect, test } from 'vitest'
import { createEngine } from '../../../../src/engine/engine.ts'
import { jsonCodec } from '../../../../src/model/codec.ts'
import { attached } from '../../../../src/model/attached.ts'
import { mintExecutionId } from '../../../../src/model/id.ts'
import { around } from '../../../../src/sql/around.ts'
import { factory } from '../../../support/factory.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { fenceOf, held, take } from '../../execution/holder.ts'
import { parked, parkedAgain, stateOf } from './parked.ts'
import { bySets } from '../../../../src/model/sets.ts'
import * as stored from '../../../support/stored.ts'

const forGo = { kind: 'signal', name: 'go' } as const

test('a signal by name resumes the execution that waits for it', async () => {
  const { engine } = await setup()
  const { executionId } = await parked(engine, forGo)
  const answer = await engine.signals.send({ executionId, name: 'go' })
  expect(answer).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  const { resumption } = await take(engine)
  expect(resumption!.signals).toMatchObject([
    { name: 'go', waitpointId: null, source: { type: 'caller', identity: 'local' } },
  ])
})

test('it is kept in any state but an ended one, until a condition that names it takes it', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const waiting = [await given.waiting(), await given.delayed(), await given.active(), await given.resumable()]
  for (const executionId of waiting) {
    const before = await stateOf(engine, executionId)
    const answer = await engine.signals.send({ executionId, name: 'go' })
    expect(answer).toMatchObject({ effect: 'kept_for_condition' })
    expect(await stateOf(engine, executionId)).toBe(before)
  }
  const ended = await given.completed()
  await refusal('target_not_signalable', engine.signals.send({ executionId: ended, name: 'go' }))
})

test('a signal that arrived before the wait is taken by it, and not a second time', async () => {
  const { engine } = await setup()
  const fence = fenceOf(await held(engine))
  const { executionId } = fence
  await engine.signals.send({ executionId, name: 'go' })
  await engine.executions.suspend({ ...fence, condition: forGo })
  expect(await stateOf(engine, executionId)).toBe('resumable')
  await parkedAgain(engine, forGo)
  expect(await stateOf(engine, executionId)).toBe('suspended')
  await engine.signals.send({ executionId, name: 'go' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('a condition takes the first that fits and leaves the others to later ones', async () => {
  const { engine } = await setup()
  const { executionId } = await parked(engine, forGo)
  const answers = await engine.signals.sendMany([
    { executionId, name: 'other' },
    { executionId, name: 'go' },
    { executionId, name: 'go' },
  ])
  expect(answers).toMatchObject([
    { effect: 'kept_for_condition' },
    { effect: 'resume_condition_satisfied' },
    { effect: 'kept_for_condition' },
  ])
  const { signals } = await engine.signals.list(executionId)
  expect(signals.map((signal) => signal.takenAt !== null)).toEqual([false, true, false])
  await parkedAgain(engine, forGo)
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('the ending of an execution reports signals that no wait took', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const { executionId } = fence
  for (const name of ['one', 'two']) await engine.signals.send({ executionId, name })
  const [core] = await stored.executions.pick(sql, ['attached'])
  expect(core!['attached'] & attached.signals).not.toBe(0)
  await engine.executions.complete(fence)
  const { events } = await engine.events.timeline(executionId)
  expect(events.at(-1)).toMatchObject({ kind: 'ended', details: { untakenSignals: 2 } })
})

test('a name does not answer a waitpoint, nor a token a name', async () => {
  const { engine } = await setup()
  const { executionId, doors } = await parked(engine, {
    kind: 'allOf',
    members: [{ kind: 'signal', waitpoint: 'door', name: 'go' }, forGo],
  })
  await engine.signals.send({ executionId, name: 'go' })
  await engine.signals.send({ executionId, name: 'go' })
  expect(await stateOf(engine, executionId)).toBe('suspended')
  await engine.signals.deliver({ ...doors['door']!, name: 'go' })
  expect(await stateOf(engine, executionId)).toBe('resumable')
})

test('a plain value is stored as the default codec stores it', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await engine.signals.send({ executionId, name: 'go', value: { by: 'ada' } })
  const { signals } = await engine.signals.list(executionId)
  expect(signals).toMatchObject([{ payload: jsonCodec.encode({ by: 'ada' }).bytes, payloadEncoding: 'json' }])
  const both = { executionId, name: 'go', value: 1, payload: new Uint8Array() }
  const { message } = await refusal('invalid_input', engine.signals.send(both))
  expect(message).toBe('value and payload are both given; give one of them')
})

test('the same key is a duplicate, also of one that was kept', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting()
  const request = { executionId, name: 'go', idempotencyKey: 'once' }
  const first = await engine.signals.send(request)
  expect(await engine.signals.send(request)).toEqual({ ...first, kind: 'duplicate' })
  expect((await engine.signals.list(executionId)).signals).toHaveLength(1)
})

test('an unknown execution, and one of another namespace, is not found', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting({ namespace: 'theirs' })
  await withoutWriting(sql, async () => {
    await refusal('execution_not_found', engine.signals.send({ executionId: mintExecutionId(), name: 'go' }))
    await refusal('execution_not_found', engine.as({ namespace: 'ours' }).signals.send({ executionId, name: 'go' }))
    await refusal('invalid_id', engine.signals.send({ executionId: 'x', name: 'go' }))
  })
})

test('a burst to one execution is split into sets, and none of them waits for a lock of its own process', async () => {
  const { sql } = await setup()
  let sent = 0
  const counting = around(sql, (ask) => {
    sent += 1
    return ask()
  })
  const engine = createEngine(counting)
  const executionId = await factory(sql).waiting()
  sent = 0
  const answers = await bySets(
    Array.from({ length: 1200 }, () => ({ executionId, name: 'go' })),
    (set) => engine.signals.sendMany(set),
  )
  expect(answers.filter((answer) => answer.kind === 'accepted')).toHaveLength(1200)
  // The first set checks whether it ends a wait.
  expect(sent).toBeLessThanOrEqual(13)
})

test('each signal that is kept writes to the execution, so an operation that began before must notice it', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting()
  const versions = new Set<unknown>()
  for (let count = 1; count <= 3; count += 1) {
    await engine.signals.send({ executionId, name: 'go' })
    const [row] = await stored.executions.versions(sql)
    versions.add(row!['xmin'])
  }
  expect(versions.size).toBe(3)
})

test('signals of an older generation have no effect in the new one', async () => {
  const { engine } = await setup()
  const fence = fenceOf(await held(engine))
  await engine.signals.send({ executionId: fence.executionId, name: 'go' })
  await engine.executions.complete(fence)
  await engine.executions.replay({ executionId: fence.executionId })
  await parkedAgain(engine, forGo)
  expect(await stateOf(engine, fence.executionId)).toBe('suspended')
})

test('a name that the execution does not wait for gets a hint, with the name that was probably meant', async () => {
  const { engine } = await setup()
  const { executionId } = await parked(engine, {
    kind: 'anyOf',
    members: [
      { kind: 'signal', name: 'approval' },
      { kind: 'signal', name: 'refusal' },
    ],
  })
  const hintOf = async (name: string): Promise<string | undefined> =>
    (await engine.signals.send({ executionId, name })).hint
  expect(await hintOf('aproval')).toBe(
    'the execution waits for "approval", "refusal", not "aproval"; did you mean approval?',
  )
  expect(await hintOf('payment')).toBe('the execution waits for "approval", "refusal", not "payment"')
  expect(await hintOf('approval')).toBeUndefined()
  // Now it is not suspended: the engine does not know what it will wait for.
  expect(await hintOf('aproval')).toBeUndefined()
})
