import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ConnectRequest } from '../../../src/engine/flow/connect-request.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import { formatFlowId, mintExecutionId, mintFlowId, parseFlowId } from '../../../src/model/id.ts'
import { limits } from '../../../src/model/limits.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, take, worker } from '../execution/holder.ts'
import { flowRow, groupRow, grown } from './grown.ts'
import * as stored from '../../support/stored.ts'

test('FLOW-05 an edge is connected at the revision that was read, and raises it', async () => {
  const { engine, sql } = await setup()
  const { flowId, connect } = await grown(engine, ['a', 'b'])
  const edgeId = randomUUID()
  const answer = await connect('a > b', { edgeId, expectedRevision: 2 })
  expect(answer).toEqual({ kind: 'connected', flowId, edgeId, graphRevision: 3 })
  expect(await flowRow(sql, flowId)).toMatchObject({ graph_revision: 3, edge_count: 1 })
  const [edge] = await stored.edges.all(sql)
  expect(edge).toMatchObject({ edge_id: edgeId, kind: 'success_only', resolution: null, created_by: 'local' })
})

test('FLOW-06 an edge at a revision that has passed is refused', async () => {
  const { engine, sql } = await setup()
  const { connect } = await grown(engine, ['a', 'b'])
  await withoutWriting(sql, async () => {
    const error = await refusal('stale_graph_revision', connect('a > b', { expectedRevision: 99 }))
    expect(error.details).toMatchObject({ graphRevision: 2, expectedRevision: 99 })
  })
})

test('FLOW-07 an edge from a member to itself is refused', async () => {
  const { engine, sql } = await setup()
  const { connect } = await grown(engine, ['a'])
  await withoutWriting(sql, () => refusal('invalid_dependency', connect('a > a')))
})

test('FLOW-08 an edge that closes a cycle is refused, with the path', async () => {
  const { engine, sql } = await setup()
  const { connect } = await grown(engine, ['a', 'b', 'c', 'd'])
  for (const edge of ['a > b', 'b > c', 'a > d', 'd > c']) await connect(edge)
  await withoutWriting(sql, async () => {
    const error = await refusal('cycle_detected', connect('c > a'))
    expect(error.message).toMatch(/a -> (b|d) -> c -> a/)
    expect(error.details['path']).toHaveLength(3)
  })
  await withoutWriting(sql, () => refusal('cycle_detected', connect('b > a')))
})

test('FLOW-08 a chain of two thousand is no cycle', async () => {
  const { engine } = await setup()
  const members = Array.from({ length: 2000 }, (_, index) => ({ name: `m${index}`, kind: 'k' }))
  const edges = members.slice(2).map(({ name }, index) => ({ upstream: `m${index + 1}`, downstream: name }))
  const graph = await engine.flows.submitGraph({ kind: 'chain', stayOpen: true, members, edges })
  const [first, second, last] = [graph.members['m0']!, graph.members['m1']!, graph.members['m1999']!]
  const { flowId } = graph
  expect(await engine.flows.connect({ flowId, upstream: first, downstream: second })).toMatchObject({
    kind: 'connected',
  })
  const error = await refusal('cycle_detected', engine.flows.connect({ flowId, upstream: last, downstream: first }))
  expect(error.message).toContain('m0 -> m1 -> m2')
})

test('FLOW-09 an edge to an execution that is no member is refused', async () => {
  const { engine, sql } = await setup()
  const { flowId, ids } = await grown(engine, ['a'])
  const partition = parseFlowId(flowId).partition
  const beside = await engine.flows.create({ kind: 'f', flowId: formatFlowId(partition, randomUUID()) })
  const other = await engine.flows.addMember({ flowId: beside.flowId, execution: { kind: 'k' } })
  const free = mintExecutionId({ flowId })
  await engine.executions.create({ executionId: free, kind: 'k' })
  const a = ids['a']!
  await withoutWriting(sql, async () => {
    for (const id of [free, other.executionId, mintExecutionId({ flowId }), mintExecutionId()]) {
      await refusal('execution_not_in_flow', engine.flows.connect({ flowId, upstream: id, downstream: a }))
      await refusal('execution_not_in_flow', engine.flows.connect({ flowId, upstream: a, downstream: id }))
    }
  })
})

test('FLOW-10 an identical edge again returns the same answer, though the revision has changed since', async () => {
  const { engine, sql } = await setup()
  const { flowId, connect } = await grown(engine, ['a', 'b', 'c'])
  const edgeId = randomUUID()
  await connect('a > b', { edgeId, expectedRevision: 3, dataRef: 'rows' })
  await connect('b > c')
  await withoutWriting(sql, async () => {
    const same = { kind: 'already_connected', flowId, edgeId, graphRevision: 5 }
    expect(await connect('a > b', { edgeId, expectedRevision: 3, dataRef: 'rows' })).toEqual(same)
    expect(await connect('a > b', { dataRef: 'rows' })).toEqual(same)
  })
})

test('FLOW-10 an edge id with other content, or a second edge between the same members, names the edge that exists', async () => {
  const { engine, sql } = await setup()
  const { connect } = await grown(engine, ['a', 'b', 'c'])
  const edgeId = randomUUID()
  await connect('a > b', { edgeId })
  await connect('a > c')
  await withoutWriting(sql, async () => {
    for (const [edge, more] of [
      ['b > c', { edgeId }],
      ['a > b', { edgeId, kind: 'optional' }],
      ['a > b', { edgeId, dataRef: 'x' }],
      ['a > b', { edgeId: randomUUID() }],
      ['a > b', { kind: 'on_failure' }],
      ['a > c', { edgeId }],
    ] as const) {
      await refusal('edge_exists', connect(edge, more))
    }
    const error = await refusal('edge_exists', connect('b > c', { edgeId }))
    expect(error.details).toMatchObject({ edgeId, kind: 'success_only' })
  })
})

test('FLOW-11 an edge in a flow that is missing, closed, cancelled or ended is refused', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId, ids, connect } = await grown(engine, ['a', 'b'])
  const missing = formatFlowId(parseFlowId(flowId).partition, parseFlowId(mintFlowId()).uuid)
  await withoutWriting(sql, () => refusal('flow_not_found', connect('a > b', { flowId: missing })))
  await engine.flows.close({ flowId })
  await withoutWriting(sql, () => refusal('flow_closed', connect('a > b')))
  for (const kind of ['a', 'b']) await engine.executions.complete(fenceOf(await take(engine, { kinds: [kind] })))
  await dispatched()
  await withoutWriting(sql, () => refusal('flow_terminal', connect('a > b')))
  const ours = engine.as({ namespace: 'ours' })
  const [upstream, downstream] = [ids['a']!, ids['b']!]
  await withoutWriting(sql, () => refusal('flow_not_found', ours.flows.connect({ flowId, upstream, downstream })))
})

test('FLOW-12 an edge blocks the child in the call that adds it', async () => {
  const { engine, sql } = await setup()
  const { ids, connect } = await grown(engine, ['a', 'b', 'c'])
  await connect('a > c')
  expect(await engine.executions.describe(ids['c']!)).toMatchObject({ publicState: 'waiting_children' })
  expect(await groupRow(sql, ids['c']!)).toMatchObject({ total: 1, satisfied: 0, state: 'pending' })
  await connect('b > c')
  expect(await groupRow(sql, ids['c']!)).toMatchObject({ total: 2, policy: 'all_of', is_sealed: false })
  const { claims } = await engine.executions.claim({ ...worker, max: 10 })
  expect(claims.map((claim) => claim.executionId).toSorted()).toEqual([ids['a'], ids['b']].toSorted())
})

test('FLOW-13 an edge that was never connected is not found', async () => {
  const { engine } = await setup()
  const { flowId, connect } = await grown(engine, ['a', 'b'])
  const { edgeId } = await connect('a > b')
  expect(await engine.flows.describeEdge(flowId, edgeId)).toMatchObject({ edgeId })
  expect(await engine.flows.describeEdge(flowId, randomUUID())).toBeNull()
})

test('a delay that outlasts the block stays when the block is gone', async () => {
  const { engine, clock, dispatched } = await setup()
  const { flowId, ids } = await grown(engine, ['a'])
  const later = await engine.flows.addMember({ flowId, execution: { kind: 'b', delay: '1h' } })
  const soon = await engine.flows.addMember({ flowId, execution: { kind: 'c', delay: '1m' } })
  for (const { executionId: downstream } of [later, soon]) {
    await engine.flows.connect({ flowId, upstream: ids['a']!, downstream })
    expect(await engine.executions.describe(downstream)).toMatchObject({ publicState: 'waiting_children' })
  }
  await clock.advance('2m')
  await engine.executions.complete(fenceOf(await take(engine, { kinds: ['a'] })))
  await dispatched()
  expect(await engine.executions.describe(later.executionId)).toMatchObject({ publicState: 'delayed' })
  expect(await engine.executions.describe(soon.executionId)).toMatchObject({ publicState: 'waiting' })
})

test('an edge from an ended member is resolved by that ending', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId, ids, connect } = await grown(engine, ['a', 'b', 'c'])
  await engine.executions.complete(fenceOf(await take(engine, { kinds: ['a'] })))
  await dispatched()
  await connect('a > b')
  await connect('a > c', { kind: 'on_failure' })
  await dispatched()
  expect(await engine.executions.describe(ids['b']!)).toMatchObject({ publicState: 'waiting' })
  expect(await engine.executions.describe(ids['c']!)).toMatchObject({ publicState: 'skipped' })
  expect(await flowRow(sql, flowId)).toMatchObject({ success_count: 1, skipped_count: 1 })
})

test('an edge into a started or ended member is refused, and so is one into a sealed group', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId, ids, connect } = await grown(engine, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  await take(engine, { kinds: ['b'] })
  await engine.executions.complete(fenceOf(await take(engine, { kinds: ['c'] })))
  await connect('a > d')
  await engine.flows.seal({ flowId, downstream: ids['d']! })
  const retrying = await take(engine, { kinds: ['e'] })
  await engine.executions.release(fenceOf(retrying))
  await connect('c > f')
  await dispatched()
  await withoutWriting(sql, async () => {
    for (const downstream of ['b', 'c', 'e', 'f']) {
      const error = await refusal('execution_not_runnable', connect(`a > ${downstream}`))
      expect(error.message).toContain(ids[downstream])
    }
    await refusal('group_sealed', connect('g > d'))
  })
})

test('the policy is set with the first edge, and may be repeated', async () => {
  const { engine, sql } = await setup()
  const { ids, connect } = await grown(engine, ['a', 'b', 'c', 'd'])
  const policy = { kind: 'quorum', k: 2, onSatisfied: 'let_run' } as const
  await connect('a > d', { policy })
  await connect('b > d', { policy })
  await connect('c > d')
  expect(await groupRow(sql, ids['d']!)).toMatchObject({
    policy: 'quorum',
    quorum: 2,
    on_satisfied: 'let_run',
    total: 3,
  })
  await connect('a > b')
  await withoutWriting(sql, () => refusal('invalid_dependency', connect('c > b', { policy })))
})

test('the 500,001st edge is refused', async () => {
  const { engine, sql } = await setup()
  const { connect } = await grown(engine, ['a', 'b'])
  await stored.flows.change(sql, { edge_count: limits.flowEdgeCount })
  await withoutWriting(sql, () => refusal('too_many_items', connect('a > b')))
})

const bad: readonly (readonly [string, ErrorCode, Partial<ConnectRequest>])[] = [
  ['of an unknown kind', 'invalid_input', { kind: 'success' as 'optional' }],
  ['of a kind that requests may not name', 'invalid_input', { kind: 'start' as 'optional' }],
  ['with an id that is no uuid', 'invalid_id', { edgeId: 'first' }],
  ['with an empty data ref', 'invalid_input', { dataRef: '' }],
  ['with an unknown field', 'invalid_input', { weight: 1 } as Partial<ConnectRequest>],
]

test.each(bad)('an edge %s is refused', async (_, code, more) => {
  const { engine, sql } = await setup()
  const { connect } = await grown(engine, ['a', 'b'])
  await withoutWriting(sql, () => refusal(code, connect('a > b', more)))
})
