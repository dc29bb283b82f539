import { expect, test } from 'vitest'
import { endBacklogged } from '../../../src/engine/dispatch/cancel-backlog.ts'
import { resolveFlows } from '../../../src/engine/dispatch/sets.ts'
import { parseExecutionId, parseFlowId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, take, worker } from '../execution/holder.ts'
import { graphOf, walk, type Shape } from './walk.ts'
import * as stored from '../../support/stored.ts'
import { membersOfAll } from '../../support/reads.ts'

const member = (name: string) => ({ name, kind: name })

const inner = {
  name: 'inner',
  flow: {
    kind: 'inner',
    tags: { depth: '1' },
    members: [member('x'), member('y'), { name: 'deep', flow: { kind: 'deep', members: [member('z')] } }],
    edges: [{ upstream: 'x', downstream: 'y' }],
  },
}

test('a member may be a flow, which starts when its member may start', async () => {
  const { engine, sql } = await setup()
  const request = { kind: 'outer', members: [member('a'), inner], edges: [{ upstream: 'a', downstream: 'inner' }] }
  const { flowId, members, innerFlows } = await engine.flows.submitGraph(request)
  const { flowId: innerId, members: within, innerFlows: below } = innerFlows['inner']!
  const flows = await stored.flows.pick(sql, [
    'flow_id',
    'root_flow_id',
    'member_id',
    'member_count',
    'edge_count',
    'closed_at_ms',
  ])
  const root = parseFlowId(flowId).uuid
  const memberUuids = [within['deep'], members['inner'], undefined].map((id) => id && parseExecutionId(id).uuid)
  expect(flows.map((flow) => flow['root_flow_id'])).toEqual([root, root, root])
  expect(flows.map((flow) => flow['member_id'] ?? undefined)).toEqual(memberUuids)
  expect(flows.map((flow) => [flow['member_count'], flow['edge_count']])).toEqual([
    [1, 0],
    [3, 1],
    [2, 1],
  ])
  expect(flows.every((flow) => flow['closed_at_ms'] !== null)).toBe(true)
  // Its first members wait for its start, and the member that stands for a flow is never claimed.
  const states = await membersOfAll(sql)
  expect(states.map((row) => [row['member_name'], row['public_state'], row['started_at_ms']])).toEqual([
    ['a', 'waiting', null],
    ['deep', 'waiting_children', null],
    ['inner', 'waiting_children', null],
    ['x', 'waiting_children', null],
    ['y', 'waiting_children', null],
    ['z', 'waiting_children', null],
  ])
  const edges = await stored.edges.pick(sql, ['flow_id', 'upstream_id', 'downstream_id'], { kind: 'start' })
  const uuid = (id: Parameters<typeof parseExecutionId>[0]) => parseExecutionId(id).uuid
  expect(new Set(edges.map((edge) => `${edge['upstream_id']} ${edge['downstream_id']}`))).toEqual(
    new Set([
      `${uuid(members['inner'])} ${uuid(within['x'])}`,
      `${uuid(members['inner'])} ${uuid(within['deep'])}`,
      `${uuid(within['deep'])} ${uuid(below['deep']!.members['z'])}`,
    ]),
  )
  expect(edges.filter((edge) => edge['flow_id'] === parseFlowId(innerId).uuid)).toHaveLength(2)
})

test('a flow within a flow runs, and its ending is that of its member', async () => {
  const { engine, dispatched } = await setup()
  const graph = { kind: 'outer', members: [member('a'), inner, member('b')] }
  const edges = [
    { upstream: 'a', downstream: 'inner' },
    { upstream: 'inner', downstream: 'b' },
  ]
  const { flowId, members } = await engine.flows.submitGraph({ ...graph, edges })
  for (const kind of ['a', 'x', 'z', 'y', 'b']) {
    await engine.executions.complete(fenceOf(await take(engine, { kinds: [kind] })))
    await dispatched()
  }
  expect(await engine.executions.describe(members['inner']!)).toMatchObject({ publicState: 'completed' })
  expect(await engine.flows.describe(flowId)).toMatchObject({ state: 'completed' })
})

test('an inner flow without upstreams starts with the graph', async () => {
  const { engine, sql } = await setup()
  const { members } = await engine.flows.submitGraph({ kind: 'outer', members: [inner] })
  const { claims } = await engine.executions.claim({ ...worker, max: 10 })
  expect(claims.map((claim) => claim.kind).toSorted()).toEqual(['x', 'z'])
  const [standing] = await stored.executions.pick(sql, ['started_at_ms', 'created_at_ms'], {
    execution_id: parseExecutionId(members['inner']).uuid,
  })
  expect(standing!['started_at_ms']).toBe(standing!['created_at_ms'])
  expect(await stored.edges.all(sql, { kind: 'start' })).toEqual([])
})

/** `a > inner`, and this edge inside. */
const after = (within: Shape): Shape => ({
  members: [{ name: 'inner', flow: { kind: 'inner', ...graphOf(within) } }],
  edges: ['a > inner'],
})

const joins = [
  ['an optional edge', { edges: ['x > y optional'] }],
  ['an edge for failures', { edges: ['x > y on_failure'] }],
  ['one edge of several', { edges: ['x > y optional', 'w > y'], groups: { y: { kind: 'any_of' } } }],
] as const

for (const [edge, within] of joins) {
  test(`members that were cancelled before their flow starts let nothing run behind ${edge} until then`, async () => {
    const fixture = await setup()
    const flow = await walk(fixture, after(within))
    const inner = flow.inner['inner']!
    await inner.end('x', 'cancelled')
    expect(await inner.states()).toMatchObject({ x: 'cancelled', y: 'waiting_children' })
    expect(await inner.group('y')).toMatchObject({ state: 'pending', satisfied: 0 })
    await flow.end('a')
    expect(await inner.states()).toMatchObject({ y: 'waiting' })
    await inner.end('y')
    expect(await flow.states()).toEqual({ a: 'completed', inner: 'completed' })
  })
}

test('a flow whose members were all cancelled before its start ends when it would start', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, {
    ...after({ edges: ['x > y optional'] }),
    edges: ['a > inner', 'inner > b optional'],
  })
  const inner = flow.inner['inner']!
  await inner.end('x', 'cancelled')
  await inner.end('y', 'cancelled')
  expect(await flow.states()).toMatchObject({ inner: 'waiting_children' })
  expect(await inner.row()).toMatchObject({ ended_at_ms: null, cancelled_count: 2 })
  await flow.end('a')
  expect(await flow.states()).toMatchObject({ inner: 'failed', b: 'waiting' })
  expect(await inner.row()).toMatchObject({ outcome: 'failed' })
})

test('nothing of a skipped flow runs, also not after members that were cancelled before; a replay brings it back', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, after({ edges: ['x > y optional', 'y > z'] }))
  const inner = flow.inner['inner']!
  await inner.end('x', 'cancelled')
  await flow.end('a', 'failed')
  expect(await inner.states()).toEqual({ x: 'cancelled', y: 'skipped', z: 'skipped' })
  expect([await inner.why('y'), await inner.why('z')]).toEqual(['dependency_failed', 'dependency_failed'])
  await fixture.engine.executions.replay({ executionId: flow.id('a') })
  expect(await inner.states()).toEqual({ x: 'cancelled', y: 'waiting_children', z: 'waiting_children' })
  expect(await inner.group('y')).toMatchObject({ state: 'pending', skipped: 0 })
  await flow.end('a')
  expect(await inner.states()).toEqual({ x: 'cancelled', y: 'waiting', z: 'waiting_children' })
  await inner.end('y')
  await inner.end('z')
  expect(await flow.states()).toEqual({ a: 'completed', inner: 'completed' })
})

test('a skipped flow whose members had all been cancelled waits again with its member', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, after({ members: ['x'] }))
  const inner = flow.inner['inner']!
  await inner.end('x', 'cancelled')
  await flow.end('a', 'failed')
  expect(await inner.row()).toMatchObject({ outcome: 'failed' })
  await fixture.engine.executions.replay({ executionId: flow.id('a') })
  expect(await inner.row()).toMatchObject({ outcome: 'none', is_held: true })
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', inner: 'failed' })
})

test('a flow that was cancelled while its member was skipped stays cancelled when that is reopened', async () => {
  const fixture = await setup({ dispatch: false })
  const flow = await walk(fixture, after({ edges: ['x > y'] }))
  const inner = flow.inner['inner']!
  await flow.endTaken(await flow.take('a'), 'failed')
  // The skip of the member, and not yet of the members of its flow.
  await resolveFlows(fixture.sql, 50)
  await fixture.engine.flows.cancel({ flowId: inner.flowId })
  await settle(fixture.sql)
  expect(await inner.states()).toEqual({ x: 'cancelled', y: 'cancelled' })
  await fixture.engine.executions.replay({ executionId: flow.id('a') })
  await flow.endTaken(await flow.take('a'))
  await settle(fixture.sql)
  expect(await flow.states()).toEqual({ a: 'completed', inner: 'cancelled' })
})

async function settle(sql: Sql): Promise<void> {
  let seen = 1
  while (seen > 0) seen = (await resolveFlows(sql, 50)).seen + (await endBacklogged(sql, 50)).seen
}
