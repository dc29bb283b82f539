// A member that stands for a flow: when that flow starts, and how the two end together.
import { expect, test } from 'vitest'
import { setup, type Fixture } from '../../support/setup.ts'
import { graphOf, walk, type Shape, type Walk } from '../flow/walk.ts'
import * as stored from '../../support/stored.ts'

async function nested(fixture: Fixture, inner: Shape, edges: readonly string[] = ['a > in', 'in > b']): Promise<Walk> {
  const flow = { kind: 'inner', ...graphOf(inner) }
  return walk(fixture, { edges, members: [{ name: 'in', flow }] })
}

test('an inner flow starts when its member is freed, and the member ends with it', async () => {
  const fixture = await setup()
  const flow = await nested(fixture, { edges: ['x > y'] })
  const inner = flow.inner['in']!
  expect(await inner.states()).toEqual({ x: 'waiting_children', y: 'waiting_children' })
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', in: 'waiting_children', b: 'waiting_children' })
  expect(await inner.states()).toEqual({ x: 'waiting', y: 'waiting_children' })
  await inner.end('x')
  await inner.end('y')
  expect(await inner.row()).toMatchObject({ outcome: 'success', success_count: 2 })
  expect(await flow.states()).toEqual({ a: 'completed', in: 'completed', b: 'waiting' })
  await flow.end('b')
  expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 3 })
})

test('a failure inside fails the member, and skips the members after it', async () => {
  const fixture = await setup()
  const flow = await nested(fixture, { edges: ['x > y'] }, ['in > b', 'in > rescue on_failure'])
  await flow.inner['in']!.end('x', 'failed')
  expect(await flow.states()).toEqual({ in: 'failed', b: 'skipped', rescue: 'waiting' })
  expect(await flow.why('in')).toBe('flow_failed')
})

test.each(['success_only', 'optional'])(
  'when the member is skipped, so are all members inside, by edges that are %s',
  async (kind) => {
    const fixture = await setup()
    const flow = await nested(fixture, { edges: [`x > y ${kind}`] })
    const inner = flow.inner['in']!
    await flow.end('a', 'failed')
    expect(await flow.states()).toEqual({ a: 'failed', in: 'skipped', b: 'skipped' })
    expect(await inner.states()).toEqual({ x: 'skipped', y: 'skipped' })
    expect([await inner.why('x'), await inner.why('y')]).toEqual(['dependency_failed', 'dependency_failed'])
    expect(await inner.row()).toMatchObject({ outcome: 'success', skipped_count: 2, cancel_policy: null })
    await fixture.engine.executions.replay({ executionId: flow.id('a') })
    await flow.end('a')
    expect(await inner.states()).toEqual({ x: 'waiting', y: 'waiting_children' })
  },
)

test.each(['before', 'after'])(
  'when the member is cancelled %s its flow started, that flow is cancelled too',
  async (when) => {
    const fixture = await setup()
    const flow = await nested(fixture, { edges: ['x > y'] })
    const inner = flow.inner['in']!
    if (when === 'after') {
      await flow.end('a')
      await inner.take('x')
    }
    await flow.end('in', 'cancelled')
    expect(await inner.states()).toEqual({ x: 'cancelled', y: 'cancelled' })
    expect(await inner.row()).toMatchObject({ outcome: 'cancelled', cancel_policy: 'cancel_all' })
    expect(await flow.states()).toMatchObject({ in: 'cancelled', b: 'skipped' })
  },
)

test('a flow inside a flow inside a flow ends from within', async () => {
  const fixture = await setup()
  const deepest = { kind: 'deepest', ...graphOf({ edges: ['x > y'] }) }
  const flow = await nested(fixture, { edges: ['before > deep'], members: [{ name: 'deep', flow: deepest }] })
  const deep = flow.inner['in']!.inner['deep']!
  await flow.end('a')
  await flow.inner['in']!.end('before')
  await deep.end('x')
  await deep.end('y')
  expect(await flow.states()).toEqual({ a: 'completed', in: 'completed', b: 'waiting' })
  const ended = await stored.events.all(fixture.sql, { event_type: 'flow_ended' })
  expect(ended).toHaveLength(2)
})

test('any_of over several inner flows takes the first, and cancels the others with all that they run', async () => {
  const fixture = await setup()
  const [one, two] = ['x', 'y'].map((name) => ({ kind: 'inner', ...graphOf({ members: [name] }) }))
  const flow = await walk(fixture, {
    edges: ['one > b', 'two > b'],
    members: [
      { name: 'one', flow: one! },
      { name: 'two', flow: two! },
    ],
    groups: { b: { kind: 'any_of' } },
  })
  await flow.inner['two']!.take('y')
  await flow.inner['one']!.end('x')
  expect(await flow.states()).toEqual({ one: 'completed', two: 'cancelled', b: 'waiting' })
  expect(await flow.inner['two']!.states()).toEqual({ y: 'cancelled' })
})
