import { expect, test } from 'vitest'
import type { AddMemberRequest } from '../../../src/engine/flow/add-member-request.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import { limits } from '../../../src/model/limits.ts'
import {
  formatExecutionId,
  formatFlowId,
  mintExecutionId,
  mintFlowId,
  parseFlowId,
  type ExecutionId,
  type FlowId,
} from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, take } from '../execution/holder.ts'
import { flowRow, groupRow, grown } from './grown.ts'
import * as stored from '../../support/stored.ts'

test('FLOW-02 an execution with the partition of its flow is added: stamped, counted and revised in one transaction', async () => {
  const { engine, sql } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'pipeline' })
  const { executionId } = await engine.executions.create({ executionId: mintExecutionId({ flowId }), kind: 'k' })
  const answer = await engine.flows.addMember({ flowId, executionId, name: 'first' })
  expect(answer).toEqual({ kind: 'added', flowId, executionId, name: 'first', graphRevision: 1, memberCount: 1 })
  expect(await engine.executions.describe(executionId)).toMatchObject({ flowId, publicState: 'waiting' })
  expect(await flowRow(sql, flowId)).toMatchObject({ graph_revision: 1, member_count: 1, edge_count: 0 })
})

test('FLOW-02 a new execution is created as a member, and can be claimed', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'pipeline', namespace: 'n' })
  const execution = { kind: 'k', lane: 'l', tags: { a: 'b' }, payload: Buffer.from('x'), priority: 7 }
  const { executionId, name } = await engine.flows.addMember({ flowId, execution })
  expect(executionId.startsWith(`{fp:${parseFlowId(flowId).partition}}:`)).toBe(true)
  expect(name).toBe(executionId.slice(executionId.indexOf(':', 4) + 1))
  const described = await engine.executions.describe(executionId)
  expect(described).toMatchObject({ flowId, namespace: 'n', lane: 'l', priority: 7, tags: { a: 'b' } })
  expect(await take(engine, { lanes: ['l'] })).toMatchObject({ executionId, flowId })
})

test('FLOW-03 a member that is added again is reported, and changes nothing', async () => {
  const { engine, sql } = await setup()
  const { flowId, ids } = await grown(engine, ['a'])
  const executionId = ids['a']!
  await withoutWriting(sql, async () => {
    const again = await engine.flows.addMember({ flowId, executionId, name: 'another', expectedRevision: 99 })
    const found = { flowId, executionId, name: 'a', graphRevision: 1, memberCount: 1 }
    expect(again).toEqual({ kind: 'already_member', ...found })
  })
})

test('a key of a member holds within its flow', async () => {
  const { engine, clock } = await setup()
  const [one, two] = [await engine.flows.create({ kind: 'f' }), await engine.flows.create({ kind: 'f' })]
  const execution = { kind: 'k', idempotencyKey: 'order-1', idempotencyTtl: '1h' } as const
  const first = await engine.flows.addMember({ flowId: one.flowId, execution })
  const again = await engine.flows.addMember({ flowId: one.flowId, execution })
  expect(again).toMatchObject({ kind: 'already_member', executionId: first.executionId, memberCount: 1 })
  const other = { ...execution, kind: 'other' }
  const error = await refusal('idempotency_conflict', engine.flows.addMember({ flowId: one.flowId, execution: other }))
  expect(error.message).toContain(first.executionId)
  expect(await engine.flows.addMember({ flowId: two.flowId, execution })).toMatchObject({ kind: 'added' })
  await clock.advance('2h')
  expect(await engine.flows.addMember({ flowId: one.flowId, execution })).toMatchObject({
    kind: 'added',
    memberCount: 2,
  })
})

test('FLOW-04 an invalid member is refused, and nothing is written on either side', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const { flowId, ids } = await grown(engine, ['a'])
  const foreign = mintExecutionId({ flowId })
  await engine.executions.create({ executionId: foreign, kind: 'k', namespace: 'theirs' })
  const outside = await given.waiting({ executionId: elsewhere(flowId) })
  const [free, unknown] = [mintExecutionId({ flowId }), mintExecutionId({ flowId })]
  await engine.executions.create({ executionId: free, kind: 'k' })
  const add = (request: Partial<AddMemberRequest>) => engine.flows.addMember({ flowId, ...request })
  await withoutWriting(sql, async () => {
    await refusal('flow_not_found', add({ flowId: beside(flowId), executionId: free }))
    await refusal('flow_not_found', engine.as({ namespace: 'b' }).flows.addMember({ flowId, executionId: free }))
    await refusal('execution_not_found', add({ executionId: unknown }))
    await refusal('execution_not_found', add({ executionId: foreign }))
    await refusal('invalid_partition', add({ executionId: outside }))
    await refusal('execution_id_taken', add({ execution: { executionId: free, kind: 'k' } }))
    const taken = await refusal('member_name_taken', add({ executionId: free, name: 'a' }))
    expect(taken.message).toContain(ids['a'])
    await refusal('stale_graph_revision', add({ executionId: free, expectedRevision: 7 }))
    await refusal('execution_not_in_flow', add({ execution: { kind: 'k' }, after: [{ upstream: free }] }))
    await refusal('execution_not_in_flow', add({ execution: { kind: 'k' }, after: [{ upstream: outside }] }))
  })
})

test('FLOW-04 a member of another flow is refused by its name', async () => {
  const { engine, sql } = await setup()
  const { flowId, ids } = await grown(engine, ['a'])
  const other = await engine.flows.create({ kind: 'f', flowId: beside(flowId) })
  await withoutWriting(sql, async () => {
    const adding = engine.flows.addMember({ flowId: other.flowId, executionId: ids['a']! })
    const error = await refusal('execution_in_other_flow', adding)
    expect(error.message).toContain(flowId)
  })
})

test('FLOW-04 a flow that is closed, cancelled or ended takes no more members', async () => {
  const { engine, sql, dispatched } = await setup()
  const [closed, ended] = [await grown(engine, ['a']), await grown(engine, ['b'])]
  await engine.flows.close({ flowId: closed.flowId })
  await engine.flows.close({ flowId: ended.flowId })
  await engine.executions.complete(fenceOf(await take(engine, { kinds: ['b'] })))
  await dispatched()
  const add = ({ flowId }: { flowId: FlowId }) => engine.flows.addMember({ flowId, execution: { kind: 'k' } })
  await engine.executions.create({ kind: 'k' })
  await withoutWriting(sql, async () => {
    await refusal('flow_closed', add(closed))
    await refusal('flow_terminal', add(ended))
  })
  const marked = await engine.flows.create({ kind: 'f' })
  await engine.flows.cancel({ flowId: marked.flowId })
  await withoutWriting(sql, () => refusal('flow_terminal', add(marked)))
})

test('the 100,001st member is refused', async () => {
  const { engine, sql } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'f' })
  await engine.executions.create({ kind: 'k' })
  await stored.flows.change(sql, { member_count: limits.flowMemberCount })
  await withoutWriting(sql, () =>
    refusal('too_many_items', engine.flows.addMember({ flowId, execution: { kind: 'k' } })),
  )
  await stored.flows.change(sql, { member_count: 0 })
})

test('a member with upstreams is blocked from the start, sealed, and one edit', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId, ids } = await grown(engine, ['a', 'b'])
  const after = [{ upstream: ids['a']! }, { upstream: ids['b']!, kind: 'optional', dataRef: 'rows' }] as const
  const policy = { kind: 'any_of', onSatisfied: 'let_run' } as const
  const added = await engine.flows.addMember({ flowId, name: 'c', execution: { kind: 'c' }, after, policy })
  expect(added).toMatchObject({ graphRevision: 3, memberCount: 3 })
  expect(await engine.executions.describe(added.executionId)).toMatchObject({ publicState: 'waiting_children' })
  expect(await groupRow(sql, added.executionId)).toMatchObject({
    policy: 'any_of',
    on_satisfied: 'let_run',
    quorum: 1,
    total: 2,
    is_sealed: true,
  })
  expect(await flowRow(sql, flowId)).toMatchObject({ edge_count: 2 })
  await engine.executions.complete(fenceOf(await take(engine, { kinds: ['a'] })))
  await dispatched()
  expect(await engine.executions.describe(added.executionId)).toMatchObject({ publicState: 'waiting' })
})

test('a member after one that has ended already receives that ending', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId, ids } = await grown(engine, ['a'])
  await engine.executions.complete(fenceOf(await take(engine, { kinds: ['a'] })))
  await dispatched()
  const after = [{ upstream: ids['a']! }]
  const { executionId } = await engine.flows.addMember({ flowId, execution: { kind: 'b' }, after })
  await dispatched()
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting' })
  expect(await flowRow(sql, flowId)).toMatchObject({ success_count: 1 })
})

test('an execution that has ended is counted when it is added', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'f' })
  const executionId = mintExecutionId({ flowId })
  await engine.executions.create({ executionId, kind: 'k' })
  await engine.executions.complete(fenceOf(await take(engine)))
  await engine.flows.addMember({ flowId, executionId })
  await dispatched()
  expect(await flowRow(sql, flowId)).toMatchObject({ member_count: 1, success_count: 1, ended_at_ms: null })
  await engine.flows.close({ flowId })
  expect(await flowRow(sql, flowId)).toMatchObject({ outcome: 'success' })
})

test('a running execution that is added notifies its flow when it ends', async () => {
  const { engine, sql, dispatched } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'f' })
  const executionId = mintExecutionId({ flowId })
  await engine.executions.create({ executionId, kind: 'k' })
  const claim = await take(engine)
  await engine.flows.addMember({ flowId, executionId })
  await engine.executions.complete(fenceOf(claim))
  await dispatched()
  expect(await flowRow(sql, flowId)).toMatchObject({ success_count: 1 })
})

const bad: readonly (readonly [string, ErrorCode, Partial<AddMemberRequest>])[] = [
  ['neither an execution nor an id', 'invalid_input', {}],
  ['both', 'invalid_input', { execution: { kind: 'k' }, executionId: mintExecutionId() }],
  ['an empty name', 'invalid_input', { execution: { kind: 'k' }, name: '' }],
  ['a name of 257 bytes', 'invalid_input', { execution: { kind: 'k' }, name: 'x'.repeat(257) }],
  ['a broken execution', 'invalid_input', { execution: { kind: '' } }],
  ['a parent', 'invalid_input', { execution: { kind: 'k', parentId: mintExecutionId() } as { kind: string } }],
  [
    'a quorum of more than its edges',
    'invalid_dependency',
    { execution: { kind: 'k' }, policy: { kind: 'quorum', k: 1 } },
  ],
  ['an id and edges that are none', 'invalid_input', { executionId: mintExecutionId(), after: null as never }],
  ['an id and a number for its edges', 'invalid_input', { executionId: mintExecutionId(), after: 5 as never }],
  ['a hole in its edges', 'invalid_input', { execution: { kind: 'k' }, after: Array(1) }],
  ['an odd revision', 'invalid_input', { execution: { kind: 'k' }, expectedRevision: -1 }],
]

test.each(bad)('a member with %s is refused, and nothing is written', async (_, code, request) => {
  const { engine, sql } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'f' })
  await withoutWriting(sql, () => refusal(code, engine.flows.addMember({ flowId, ...request })))
})

function uuidOf(flowId: FlowId): string {
  return parseFlowId(flowId).uuid
}

/** A flow id with the same partition. */
function beside(flowId: FlowId): FlowId {
  return formatFlowId(parseFlowId(flowId).partition, uuidOf(mintFlowId()))
}

function elsewhere(flowId: FlowId): ExecutionId {
  return formatExecutionId((parseFlowId(flowId).partition + 1) % 256, uuidOf(mintFlowId()))
}

test('each change of the graph writes one event', async () => {
  const { engine, sql } = await setup()
  const { flowId, connect } = await grown(engine, ['a', 'b'])
  await connect('a > b')
  await engine.flows.close({ flowId })
  const events = (await stored.events.all(sql)).map(({ event_type, details }) => {
    const { graphRevision: revision = null, change = null } = (details ?? {}) as Record<string, unknown>
    return { event_type, revision, change }
  })
  expect(events).toEqual([
    { event_type: 'flow_created', revision: 0, change: null },
    { event_type: 'flow_changed', revision: 1, change: 'member_added' },
    { event_type: 'flow_changed', revision: 2, change: 'member_added' },
    { event_type: 'flow_changed', revision: 3, change: 'edge_added' },
    { event_type: 'flow_closed', revision: null, change: null },
  ])
})
