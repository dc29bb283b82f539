// A member of a flow runs once more, together with the members that its ending had skipped.
import { expect, test } from 'vitest'
import { resolveFlows } from '../../../src/engine/dispatch/sets.ts'
import { refusal } from '../../support/refusal.ts'
import { setup, type Fixture } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { graphOf, walk, type Walk } from './walk.ts'
import * as stored from '../../support/stored.ts'

test('replay of a failed member reopens the members that its failure skipped, hop by hop, and the flow', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b', 'b > c', 'a > d optional'] })
  await flow.end('a', 'failed')
  await flow.end('d')
  expect(await flow.states()).toEqual({ a: 'failed', b: 'skipped', c: 'skipped', d: 'completed' })
  // The member that accepts any ending handles its failure.
  expect(await flow.row()).toMatchObject({ outcome: 'success', failed_count: 1, skipped_count: 2, success_count: 1 })
  expect(await replay(fixture, flow, 'a')).toMatchObject({
    kind: 'replayed',
    generation: 1,
    from: 'failed',
    reopened: [flow.id('b'), flow.id('c')],
  })
  expect(await flow.states()).toEqual({ a: 'waiting', b: 'waiting_children', c: 'waiting_children', d: 'completed' })
  expect(await flow.row()).toMatchObject({
    outcome: 'none',
    ended_at_ms: null,
    failed_count: 0,
    skipped_count: 0,
    success_count: 1,
  })
  for (const name of ['a', 'b', 'c']) await flow.end(name)
  expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 4, failed_count: 0, skipped_count: 0 })
  expect(await eventsOf(fixture, flow)).toEqual(['flow_created', 'flow_ended', 'flow_reopened', 'flow_ended'])
})

test('no edge is counted twice: the second ending is the one that counts', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'] })
  await flow.end('a', 'failed')
  await replay(fixture, flow, 'a')
  expect(await flow.group('c')).toMatchObject({ state: 'pending', satisfied: 0, failed: 0, fired_at_ms: null })
  await flow.end('a')
  expect(await flow.group('c')).toMatchObject({ state: 'pending', satisfied: 1, failed: 0 })
  await flow.end('b')
  expect(await flow.group('c')).toMatchObject({ state: 'satisfied', satisfied: 2, failed: 0 })
  expect(await flow.states()).toMatchObject({ c: 'waiting' })
})

test('freed members stay free: the edge of a replayed upstream keeps its resolution', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b'] })
  await flow.end('a')
  await flow.end('b')
  expect(await replay(fixture, flow, 'a')).toMatchObject({ from: 'completed', reopened: [] })
  await flow.end('a', 'failed')
  expect(await flow.states()).toEqual({ a: 'failed', b: 'completed' })
  expect(await flow.group('b')).toMatchObject({ state: 'satisfied', satisfied: 1, failed: 0 })
  expect(await flow.row()).toMatchObject({ outcome: 'failed', success_count: 1, failed_count: 1 })
})

test('a group that other edges have lost too stays lost, until these are replayed as well', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'] })
  await flow.end('a', 'failed')
  await flow.end('b', 'failed')
  expect(await replay(fixture, flow, 'a')).toMatchObject({ reopened: [] })
  expect(await flow.group('c')).toMatchObject({ state: 'impossible', failed: 1 })
  expect(await replay(fixture, flow, 'b')).toMatchObject({ reopened: [flow.id('c')] })
  expect(await flow.group('c')).toMatchObject({ state: 'pending', failed: 0 })
  await flow.end('b')
  await flow.end('a')
  await flow.end('c')
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
})

test('a quorum that could not be reached can be reached again', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, {
    edges: ['a > d', 'b > d', 'c > d'],
    groups: { d: { kind: 'quorum', k: 2, onSatisfied: 'let_run' } },
  })
  await flow.end('a', 'failed')
  await flow.end('b', 'failed')
  expect(await flow.states()).toMatchObject({ d: 'skipped' })
  await flow.end('c')
  expect(await replay(fixture, flow, 'b')).toMatchObject({ reopened: [flow.id('d')] })
  expect(await flow.group('d')).toMatchObject({ state: 'pending', satisfied: 1, failed: 1 })
  await flow.end('b')
  expect(await flow.states()).toMatchObject({ d: 'waiting' })
})

test('an ending that is not resolved yet is dropped when its member is replayed', async () => {
  const fixture = await setup({ dispatch: false })
  const flow = await walk(fixture, { edges: ['a > b'] })
  await flow.end('a', 'failed')
  expect(await stored.dispatches.all(fixture.sql)).toHaveLength(1)
  expect(await replay(fixture, flow, 'a')).toMatchObject({ reopened: [] })
  await resolveFlows(fixture.sql, 10)
  expect(await flow.states()).toEqual({ a: 'waiting', b: 'waiting_children' })
  await flow.end('a')
  await resolveFlows(fixture.sql, 10)
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting' })
})

test('a member that was cancelled while it was blocked is blocked again; its upstream may end first', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b', 'x > y'] })
  await flow.end('b', 'cancelled')
  await replay(fixture, flow, 'b')
  expect(await flow.states()).toMatchObject({ b: 'waiting_children' })
  await flow.end('b', 'cancelled')
  await flow.end('a')
  await replay(fixture, flow, 'b')
  expect(await flow.states()).toMatchObject({ b: 'waiting' })
})

test('replay of a member of an inner flow reopens that flow, and the member that it stands for', async () => {
  const fixture = await setup()
  const inner = { kind: 'inner', ...graphOf({ edges: ['i > j'] }) }
  const flow = await walk(fixture, { members: [{ name: 's', flow: inner }], edges: ['a > s', 's > z'] })
  await flow.end('a')
  const within = flow.inner['s']!
  await within.end('i', 'failed')
  expect(await within.states()).toEqual({ i: 'failed', j: 'skipped' })
  expect(await flow.states()).toEqual({ a: 'completed', s: 'failed', z: 'skipped' })
  const { reopened } = await replay(fixture, within, 'i')
  expect(reopened?.toSorted()).toEqual([within.id('j'), flow.id('z')].toSorted())
  expect(await within.states()).toEqual({ i: 'waiting', j: 'waiting_children' })
  expect(await flow.states()).toEqual({ a: 'completed', s: 'waiting_children', z: 'waiting_children' })
  await within.end('i')
  await within.end('j')
  expect(await flow.states()).toEqual({ a: 'completed', s: 'completed', z: 'waiting' })
  await flow.end('z')
  expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 3 })
})

test('an inner flow that never started waits again with the member that stands for it', async () => {
  const fixture = await setup()
  const inner = { kind: 'inner', ...graphOf({ edges: ['i > j'] }) }
  const flow = await walk(fixture, { members: [{ name: 's', flow: inner }], edges: ['a > s', 's > z'] })
  const within = flow.inner['s']!
  await flow.end('a', 'failed')
  expect(await within.states()).toEqual({ i: 'skipped', j: 'skipped' })
  await replay(fixture, flow, 'a')
  expect(await within.states()).toEqual({ i: 'waiting_children', j: 'waiting_children' })
  expect(await within.row()).toMatchObject({ outcome: 'none', skipped_count: 0 })
  await flow.end('a')
  await within.end('i')
  await within.end('j')
  await flow.end('z')
  expect(await flow.row()).toMatchObject({ outcome: 'success' })
})

test('a skipped member is not replayed while one of its upstreams is lost, and the refusal names that upstream', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b'] })
  await flow.end('a', 'failed')
  const error = await withoutWriting(fixture.sql, () => refusal('execution_not_runnable', replay(fixture, flow, 'b')))
  expect(error.message).toContain(`depends on ${flow.id('a')}, which is failed`)
})

test('a member of a cancelled flow is not replayed', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b'] })
  await flow.end('a', 'failed')
  const other = await walk(fixture, { edges: ['a > b'] })
  await other.end('a')
  await fixture.engine.flows.cancel({ flowId: other.flowId })
  await fixture.dispatched()
  const error = await withoutWriting(fixture.sql, () => refusal('flow_terminal', replay(fixture, other, 'a')))
  expect(error.message).toContain(other.flowId)
  expect((await replay(fixture, flow, 'a')).kind).toBe('replayed')
})

test('a member that stands for a flow is not replayed itself', async () => {
  const fixture = await setup()
  const inner = { kind: 'inner', ...graphOf({ members: ['i'] }) }
  const flow = await walk(fixture, { members: [{ name: 's', flow: inner }] })
  await flow.inner['s']!.end('i')
  expect(await flow.states()).toEqual({ s: 'completed' })
  await withoutWriting(fixture.sql, () => refusal('execution_not_runnable', replay(fixture, flow, 's')))
})

test('a member that has not ended, or was replayed as often as its policy allows, is refused', async () => {
  const fixture = await setup()
  const member = { name: 'a', kind: 'a', policy: { maxReplayCount: 1 } }
  const flow = await walk(fixture, { members: [member] })
  await withoutWriting(fixture.sql, () => refusal('execution_not_terminal', replay(fixture, flow, 'a')))
  await flow.end('a')
  await replay(fixture, flow, 'a')
  await flow.end('a')
  await withoutWriting(fixture.sql, () => refusal('replay_limit', replay(fixture, flow, 'a')))
})

test('members and others are replayed in one call, each with its answer', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b'] })
  const { executionId } = await fixture.engine.executions.create({ kind: 'k' })
  await fixture.engine.executions.cancel({ executionId })
  await flow.end('a', 'failed')
  const ids = [executionId, flow.id('b'), flow.id('a')]
  const answers = await fixture.engine.executions.replayMany(ids.map((id) => ({ executionId: id })))
  expect(answers).toMatchObject([
    { kind: 'replayed' },
    { kind: 'refused', error: { code: 'execution_not_runnable' } },
    { kind: 'replayed', reopened: [flow.id('b')] },
  ])
})

function replay({ engine }: Fixture, flow: Walk, name: string) {
  return engine.executions.replay({ executionId: flow.id(name) })
}

async function eventsOf({ sql }: Fixture, flow: Walk): Promise<unknown[]> {
  const found = await stored.events.pick(
    sql,
    ['event_type'],
    `flow_id = '${flow.uuid}' and starts_with(event_type::text, 'flow_')`,
  )
  return found.map((row) => row['event_type'])
}
