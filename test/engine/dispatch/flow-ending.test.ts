// How a flow ends: it fails when a member failed, was cancelled or expired and no join handled that. The decision reads all
// edges when the flow ends, so the order in which the members ended does not matter.
import { expect, test } from 'vitest'
import { setup, type Fixture } from '../../support/setup.ts'
import { graphOf, walk, type Shape, type Walk } from '../flow/walk.ts'

type Endings = Readonly<Record<string, 'completed' | 'failed' | 'cancelled'>>

test.each([
  ['nothing was to be compensated', ['a > rescue on_failure'], { a: 'completed' }, 'success'],
  ['a failure is compensated', ['a > rescue on_failure'], { a: 'failed', rescue: 'completed' }, 'success'],
  ['the compensation fails too', ['a > rescue on_failure'], { a: 'failed', rescue: 'failed' }, 'failed'],
  [
    'a failure is compensated and skips a member',
    ['a > rescue on_failure', 'a > b'],
    { a: 'failed', rescue: 'completed' },
    'success',
  ],
  ['an optional member fails', ['a > b optional'], { a: 'failed', b: 'completed' }, 'success'],
  ['a failure skips the last', ['a > b', 'b > c'], { a: 'failed' }, 'failed'],
  [
    'a member is optional that a failure skipped',
    ['a > b', 'b > c optional'],
    { a: 'failed', c: 'completed' },
    'success',
  ],
  ['the last is cancelled', ['a > b'], { a: 'completed', b: 'cancelled' }, 'failed'],
  ['what follows is not needed either', ['a > rescue on_failure', 'rescue > report'], { a: 'completed' }, 'success'],
  ['the compensation was skipped by a failure', ['a > b', 'b > rescue on_failure'], { a: 'failed' }, 'failed'],
  [
    'a cancelled compensation is compensated',
    ['a > rescue on_failure', 'rescue > last on_failure'],
    { rescue: 'cancelled', last: 'completed', a: 'failed' },
    'success',
  ],
] as const)('%s', async (_, edges, endings, outcome) => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges })
  await endAll(flow, endings)
  expect(await flow.row()).toMatchObject({ outcome })
  const { events } = await fixture.engine.flows.timeline(flow.flowId)
  expect(events.map(({ kind, outcome: reported }) => [kind, reported]).at(-1)).toEqual(['flow_ended', outcome])
  expect(events.filter(({ kind }) => kind === 'flow_ended')).toHaveLength(1)
})

test.each(['ab', 'ba'])(
  'a failure that no join handled fails the flow, in every order of endings: %s',
  async (order) => {
    const flow = await walk(await setup(), { edges: ['b > c on_failure', 'c > d', 'a > d'] })
    await endIn(flow, order, { a: 'failed', b: 'completed' })
    expect(await flow.states()).toEqual({ a: 'failed', b: 'completed', c: 'skipped', d: 'skipped' })
    expect(await flow.row()).toMatchObject({ outcome: 'failed' })
    expect([await flow.why('c'), await flow.why('d')]).toEqual(['not_needed', 'dependency_failed'])
  },
)

test.each(['ab', 'ba'])('an alert that needed two failures and received one handled none: %s', async (order) => {
  const flow = await walk(await setup(), { edges: ['a > alert on_failure', 'b > alert on_failure'] })
  await endIn(flow, order, { a: 'failed', b: 'completed' })
  expect(await flow.states()).toEqual({ a: 'failed', b: 'completed', alert: 'skipped' })
  expect(await flow.row()).toMatchObject({ outcome: 'failed' })
  expect(await flow.why('alert')).toBe('not_needed')
})

test.each(['ab', 'ba'])('the reason of a skip reaches the downstream members: %s', async (order) => {
  const inner = { kind: 'inner', ...graphOf({ edges: ['x > y optional'] }) }
  const flow = await walk(await setup(), {
    edges: ['b > c on_failure', 'c > d', 'a > d', 'd > in', 'in > e'],
    members: [{ name: 'in', flow: inner }],
  })
  await endIn(flow, order, { a: 'failed', b: 'completed' })
  for (const name of ['d', 'in', 'e']) expect(await flow.why(name), name).toBe('dependency_failed')
  for (const name of ['x', 'y']) expect(await flow.inner['in']!.why(name), name).toBe('dependency_failed')
  expect(await flow.why('c')).toBe('not_needed')
})

const alternatives: Shape = {
  edges: ['fetch > parse', 'parse > merge', 'other > merge'],
  groups: { merge: { kind: 'any_of' } },
}

test.each([
  ['first', ['fetch', 'other', 'merge']],
  ['last', ['other', 'merge', 'fetch']],
])('an alternative of several members may fail when another one was taken: it fails %s', async (_, order) => {
  const flow = await walk(await setup(), alternatives)
  const endings: Endings = { fetch: 'failed', other: 'completed', merge: 'completed' }
  for (const name of order) await flow.end(name, endings[name])
  expect(await flow.row()).toMatchObject({ outcome: 'success', failed_count: 1 })
})

test('one of any that fails does not fail the flow when another wins', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'], groups: { c: { kind: 'any_of' } } })
  await flow.end('a', 'failed')
  await flow.end('b')
  await flow.end('c')
  expect(await flow.row()).toMatchObject({ outcome: 'success', failed_count: 1, success_count: 2 })
})

test.each([
  ['quorum', { kind: 'quorum', k: 2 }],
  ['any_of', { kind: 'any_of' }],
] as const)('the members that a join by %s cancels do not fail the flow', async (_, policy) => {
  const flow = await walk(await setup(), { edges: ['a > d', 'b > d', 'c > d', 'c > e'], groups: { d: policy } })
  await flow.end('a')
  if (policy.kind === 'quorum') await flow.end('b')
  expect(await flow.states()).toMatchObject({ c: 'cancelled', d: 'waiting', e: 'skipped' })
  await flow.end('d')
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
})

test.each([
  ['alone', { kind: 'all_of' }, 'failed'],
  ['beside another', { kind: 'any_of', onSatisfied: 'let_run' }, 'success'],
] as const)('a member that fails in its replay had satisfied a join %s', async (_, policy, outcome) => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'], groups: { c: policy } })
  await endIn(flow, 'abc', { a: 'completed', b: 'completed', c: 'completed' })
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
  await fixture.engine.executions.replay({ executionId: flow.id('a') })
  await flow.end('a', 'failed')
  expect(await flow.row()).toMatchObject({ outcome })
})

test('a replay changes the reason of the members that stay skipped', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['b > c on_failure', 'c > d', 'a > d'] })
  await endIn(flow, 'ab', { a: 'failed', b: 'completed' })
  await fixture.engine.executions.replay({ executionId: flow.id('a') })
  await flow.end('a')
  expect(await flow.states()).toMatchObject({ a: 'completed', d: 'skipped' })
  expect(await flow.why('d')).toBe('not_needed')
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
})

test('a failure in an inner flow is handled there, or by the members after the flow', async () => {
  const fixture = await setup()
  const handled = await nested(fixture, ['x > rescue on_failure'], ['in > after'])
  await endAll(handled.inner['in']!, { x: 'failed', rescue: 'completed' })
  await handled.end('after')
  expect(await handled.row()).toMatchObject({ outcome: 'success' })
  const behind = await nested(fixture, ['u > v'], ['in > mend on_failure'])
  await behind.inner['in']!.end('u', 'failed')
  await behind.end('mend')
  expect(await behind.inner['in']!.row()).toMatchObject({ outcome: 'failed' })
  expect(await behind.row()).toMatchObject({ outcome: 'success' })
})

test('a flow that is closed after its members have ended fails by the same rule', async () => {
  const fixture = await setup()
  const { engine } = fixture
  const edges = ['b > c on_failure', 'c > d', 'a > d', 'a > rescue on_failure']
  for (const order of ['ab', 'ba']) {
    const flow = await walk(fixture, { edges }, { stayOpen: true })
    await endIn(flow, order, { a: 'failed', b: 'completed' })
    await flow.end('rescue', order === 'ab' ? 'completed' : 'failed')
    expect(await flow.row()).toMatchObject({ outcome: 'none' })
    await engine.flows.close({ flowId: flow.flowId })
    expect(await flow.row()).toMatchObject({ outcome: order === 'ab' ? 'success' : 'failed' })
    expect(await flow.why('d')).toBe('dependency_failed')
  }
})

test('a flow that stays open does not end with its last member', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { members: ['a'] }, { stayOpen: true })
  await flow.end('a')
  expect(await flow.row()).toMatchObject({ outcome: 'none', success_count: 1 })
  await fixture.engine.flows.close({ flowId: flow.flowId })
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
})

function nested(fixture: Fixture, within: readonly string[], edges: readonly string[]): Promise<Walk> {
  return walk(fixture, { edges, members: [{ name: 'in', flow: { kind: 'inner', ...graphOf({ edges: within }) } }] })
}

async function endAll(flow: Walk, endings: Endings): Promise<void> {
  for (const [name, as] of Object.entries(endings)) await flow.end(name, as)
}

/** Members with names of one letter, in this order. */
async function endIn(flow: Walk, order: string, endings: Endings): Promise<void> {
  for (const name of order) await flow.end(name, endings[name])
}
