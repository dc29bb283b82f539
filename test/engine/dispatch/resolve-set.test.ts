// One set of the resolver does all that its endings need in one call, whatever facts that takes.
import { expect, test } from 'vitest'
import { pendingDispatch } from '../../../src/engine/kernel/pending-dispatch.ts'
import { resolveFlows } from '../../../src/engine/dispatch/sets.ts'
import { checkInvariants } from '../../../src/engine/invariants.ts'
import { setup } from '../../support/setup.ts'
import { graphOf, walk, type Shape } from '../flow/walk.ts'
import * as stored from '../../support/stored.ts'

const inner = { name: 'in', flow: { kind: 'inner', ...graphOf({ members: ['x'] }) } }

test('members wait, are released and end with their flow', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > c', 'b > c optional', 'c > d', 'c > e'] })
  await flow.endTaken(await flow.take('a'))
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: 0, readyQueueIds: [] },
  })
  await flow.endTaken(await flow.take('b'))
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: 0, readyQueueIds: [expect.any(Number)] },
  })
  for (const name of ['c', 'd', 'e']) {
    await flow.endTaken(await flow.take(name))
    expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  }
  expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 5 })
})

test('a flow in which a member failed ends with its last member', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b on_failure', 'b > c optional'] })
  await flow.endTaken(await flow.take('a'), 'failed')
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: 0, endedFlowIds: [] },
  })
  await flow.endTaken(await flow.take('b'))
  await fixture.engine.executions.cancel({ executionId: flow.id('c') })
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 2,
    done: 2,
    effects: { pendingDispatch: 0, endedFlowIds: [flow.uuid] },
  })
  expect(await flow.group('c')).toMatchObject({ state: 'satisfied' })
  expect(await flow.row()).toMatchObject({ outcome: 'failed', success_count: 1, failed_count: 1, cancelled_count: 1 })
})

test('a flow whose skips have other reasons than they were stored with ends with the right ones', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['b > c on_failure', 'c > d', 'a > d'] })
  await flow.endTaken(await flow.take('b'))
  while ((await resolveFlows(sql, 10)).done > 0);
  expect(await flow.why('d')).toBe('not_needed')
  await flow.endTaken(await flow.take('a'), 'failed')
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { endedFlowIds: [flow.uuid] } })
  expect(await flow.why('d')).toBe('dependency_failed')
  expect(await flow.row()).toMatchObject({ outcome: 'failed' })
})

test('the first success of any releases its member when no other is left to cancel', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'], groups: { c: { kind: 'any_of' } } })
  await flow.endTaken(await flow.take('a'), 'failed')
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  await flow.endTaken(await flow.take('b'))
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  expect(await flow.states()).toEqual({ a: 'failed', b: 'completed', c: 'waiting' })
})

test.each<{ what: string; shape: Shape; as?: 'failed'; owes: number; after: Record<string, string> }>([
  { what: 'a skip', shape: { edges: ['a > b'] }, as: 'failed', owes: pendingDispatch.flow, after: { b: 'skipped' } },
  {
    what: 'a skip whose reason depends on other edges',
    shape: { edges: ['a > b on_failure'] },
    owes: pendingDispatch.flow,
    after: { b: 'skipped' },
  },
  {
    what: 'the cancel of a sibling',
    shape: { edges: ['a > c', 'b > c'], groups: { c: { kind: 'any_of' } } },
    owes: pendingDispatch.cancels,
    after: { b: 'waiting', c: 'waiting' },
  },
  {
    what: 'the start of a nested flow',
    shape: { edges: ['a > in'], members: [inner] },
    owes: pendingDispatch.flow,
    after: { in: 'waiting_children' },
  },
])('one set does $what, and says what follows', async ({ shape, as, owes, after }) => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, shape)
  await flow.endTaken(await flow.take('a'), as)
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: owes } })
  expect(await flow.states()).toMatchObject(after)
  expect(await flow.row()).toMatchObject(as === undefined ? { success_count: 1 } : { failed_count: 1 })
})

test('a nested flow is counted and ended, and the member that represents it ends with it', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, {
    members: [{ ...inner, flow: { kind: 'inner', ...graphOf({ edges: ['x > y'] }) } }],
  })
  await resolveFlows(sql, 10)
  const within = flow.inner['in']!
  await within.endTaken(await within.take('x'))
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  await within.endTaken(await within.take('y'))
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: pendingDispatch.flow, endedFlowIds: [within.uuid] },
  })
  expect(await within.row()).toMatchObject({ outcome: 'success', success_count: 2 })
  expect(await flow.states()).toEqual({ in: 'completed' })
})

test('an ending is counted when all of its edges are resolved, those first that need no more facts', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b', 'a > c optional', 'a > d on_failure', 'x > y'] })
  await flow.endTaken(await flow.take('a'))
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: pendingDispatch.flow },
  })
  expect(await flow.states()).toMatchObject({ b: 'waiting', c: 'waiting', d: 'skipped' })
  expect(await flow.why('d')).toBe('not_needed')
  expect(await flow.row()).toMatchObject({ success_count: 1 })
  expect(await checkInvariants(sql)).toEqual([])
})

test('a quarantined row is left to the duty', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b', 'c > d'] })
  for (const name of ['a', 'c']) await flow.endTaken(await flow.take(name))
  const failure = { failure_count: 1, retry_at_ms: 0, error: 'refused' }
  await stored.quarantine.add(sql, { duty: 'dispatch', subject_id: flow.uuidOf('a'), ...failure })
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  expect(await flow.states()).toMatchObject({ b: 'waiting_children', d: 'waiting' })
  expect(await stored.dispatches.pick(sql, ['execution_id'])).toEqual([{ execution_id: flow.uuidOf('a') }])
})
