// The resolver's plain form: the endings that it resolves alone, and those that it leaves to the whole form.
import { expect, test } from 'vitest'
import { pendingDispatch } from '../../../src/engine/kernel/pending-dispatch.ts'
import { resolveFlows, resolveMoreOfFlows } from '../../../src/engine/dispatch/sets.ts'
import { checkInvariants } from '../../../src/engine/invariants.ts'
import { setup } from '../../support/setup.ts'
import { graphOf, walk, type Shape } from '../flow/walk.ts'
import * as stored from '../../support/stored.ts'

const inner = { name: 'in', flow: { kind: 'inner', ...graphOf({ members: ['x'] }) } }

test('members that wait, are freed and end with their flow need only the plain form', async () => {
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

test('the ending of a flow in which a member failed is left to the whole form, with its edges resolved', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b on_failure', 'b > c optional'] })
  await flow.endTaken(await flow.take('a'), 'failed')
  expect(await resolveFlows(sql, 10)).toMatchObject({ done: 1, effects: { pendingDispatch: 0 } })
  await flow.endTaken(await flow.take('b'))
  await fixture.engine.executions.cancel({ executionId: flow.id('c') })
  expect(await resolveFlows(sql, 10)).toMatchObject({
    done: 0,
    effects: { pendingDispatch: pendingDispatch.moreOfFlow, endedFlowIds: [] },
  })
  expect(await flow.group('c')).toMatchObject({ state: 'satisfied' })
  expect(await flow.row()).toMatchObject({ outcome: 'none', success_count: 0, failed_count: 1 })
  expect(await resolveMoreOfFlows(sql, 10)).toMatchObject({ done: 2, effects: { endedFlowIds: [flow.uuid] } })
  expect(await flow.row()).toMatchObject({ outcome: 'failed', success_count: 1, failed_count: 1, cancelled_count: 1 })
})

test('the first of any_of frees its member alone when no member is left to cancel', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'], groups: { c: { kind: 'any_of' } } })
  await flow.endTaken(await flow.take('a'), 'failed')
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  await flow.endTaken(await flow.take('b'))
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  expect(await flow.states()).toEqual({ a: 'failed', b: 'completed', c: 'waiting' })
})

test.each<{ what: string; shape: Shape; as?: 'failed'; after: Record<string, string> }>([
  { what: 'a skip', shape: { edges: ['a > b'] }, as: 'failed', after: { b: 'skipped' } },
  {
    what: 'a sibling that is to be cancelled',
    shape: { edges: ['a > c', 'b > c'], groups: { c: { kind: 'any_of' } } },
    after: { b: 'waiting', c: 'waiting' },
  },
  { what: 'a flow that begins', shape: { edges: ['a > in'], members: [inner] }, after: { in: 'waiting_children' } },
])('$what is left to the whole form', async ({ shape, as, after }) => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, shape)
  await flow.endTaken(await flow.take('a'), as)
  const before = await flow.states()
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 0,
    done: 0,
    effects: { pendingDispatch: pendingDispatch.moreOfFlow },
  })
  expect(await flow.states()).toEqual(before)
  expect(await flow.row()).toMatchObject({ success_count: 0, failed_count: 0 })
  expect(await resolveMoreOfFlows(sql, 10)).toMatchObject({ seen: 1, done: 1 })
  expect(await flow.states()).toMatchObject(after)
})

test('the plain form counts an inner flow, and leaves its ending to the whole form', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, {
    members: [{ ...inner, flow: { kind: 'inner', ...graphOf({ edges: ['x > y'] }) } }],
  })
  await resolveMoreOfFlows(sql, 10)
  const within = flow.inner['in']!
  await within.endTaken(await within.take('x'))
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  await within.endTaken(await within.take('y'))
  expect(await resolveFlows(sql, 10)).toMatchObject({
    seen: 0,
    done: 0,
    effects: { pendingDispatch: pendingDispatch.moreOfFlow },
  })
  expect(await within.row()).toMatchObject({ outcome: 'none', success_count: 1 })
  expect(await resolveMoreOfFlows(sql, 10)).toMatchObject({ done: 1, effects: { endedFlowIds: [within.uuid] } })
  expect(await flow.states()).toEqual({ in: 'completed' })
})

test('of one ending, the plain form does the complete parts at once; the whole form counts the ending with the others', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b', 'a > c optional', 'x > y'] })
  await flow.endTaken(await flow.take('a'), 'failed')
  expect(await resolveFlows(sql, 10)).toMatchObject({
    done: 0,
    effects: { pendingDispatch: pendingDispatch.moreOfFlow },
  })
  expect(await flow.states()).toMatchObject({ b: 'waiting_children', c: 'waiting' })
  expect(await flow.row()).toMatchObject({ failed_count: 0 })
  expect(await checkInvariants(sql)).toEqual([])
  expect(await resolveMoreOfFlows(sql, 10)).toMatchObject({
    done: 1,
    effects: { pendingDispatch: pendingDispatch.moreOfFlow },
  })
  expect(await flow.states()).toMatchObject({ b: 'skipped', c: 'waiting' })
  expect(await flow.row()).toMatchObject({ failed_count: 1 })
})

test('a quarantined ending is left to the duty', async () => {
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
