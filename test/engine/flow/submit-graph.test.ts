import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { GraphRequest } from '../../../src/engine/flow/graph-request.ts'
import { mintExecutionId, mintFlowId, parseExecutionId, parseFlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { worker } from '../execution/holder.ts'
import { groupRow } from './grown.ts'
import * as stored from '../../support/stored.ts'

const member = (name: string) => ({ name, kind: name })

const chain = {
  kind: 'pipeline',
  members: [member('a'), member('b'), member('c')],
  edges: [
    { upstream: 'a', downstream: 'b' },
    { upstream: 'b', downstream: 'c', kind: 'optional', dataRef: 'rows' },
  ],
} satisfies GraphRequest

test('a graph is submitted whole: its first members can be claimed, the others are blocked', async () => {
  const { engine, sql } = await setup()
  const answer = await engine.flows.submitGraph(chain)
  expect(answer).toMatchObject({ kind: 'submitted', graphRevision: 1, innerFlows: {} })
  const { a, b, c } = answer.members
  expect(await engine.executions.describe(a!)).toMatchObject({ publicState: 'waiting', flowId: answer.flowId })
  for (const id of [b!, c!]) {
    expect(await engine.executions.describe(id)).toMatchObject({ publicState: 'waiting_children' })
  }
  const { claims } = await engine.executions.claim({ ...worker, max: 10 })
  expect(claims.map((claim) => claim.executionId)).toEqual([a])
  const [flow] = await stored.flows.all(sql)
  expect(flow).toMatchObject({ graph_revision: 1, member_count: 3, edge_count: 2, flow_kind: 'pipeline' })
  expect(flow!['closed_at_ms']).toBe(flow!['created_at_ms'])
  const edges = await stored.edges.pick(sql, ['kind', 'data_ref', 'resolution', 'created_by'], {}, 'kind')
  expect(edges).toEqual([
    { kind: 'success_only', data_ref: null, resolution: null, created_by: 'local' },
    { kind: 'optional', data_ref: 'rows', resolution: null, created_by: 'local' },
  ])
})

test('EDGE-01 EDGE-06 the policy of a member is stored as given, and is all of its edges by default', async () => {
  const { engine, sql } = await setup()
  const names = ['a', 'b', 'c', 'all', 'any', 'some'] as const
  const edges = ['all', 'any', 'some'].flatMap((downstream) =>
    ['a', 'b', 'c'].map((upstream) => ({ upstream, downstream })),
  )
  const { members } = await engine.flows.submitGraph({
    kind: 'f',
    members: names.map(member),
    edges,
    groups: [
      { downstream: 'any', policy: { kind: 'any_of' } },
      { downstream: 'some', policy: { kind: 'quorum', k: 3, onSatisfied: 'let_run' } },
    ],
  })
  const group = (name: string) => groupRow(sql, members[name]!)
  const fresh = { total: 3, satisfied: 0, failed: 0, skipped: 0, state: 'pending', is_sealed: true }
  expect(await group('all')).toMatchObject({ ...fresh, policy: 'all_of', quorum: null, on_satisfied: 'let_run' })
  expect(await group('any')).toMatchObject({ ...fresh, policy: 'any_of', quorum: 1, on_satisfied: 'cancel_remaining' })
  expect(await group('some')).toMatchObject({ ...fresh, policy: 'quorum', quorum: 3, on_satisfied: 'let_run' })
})

test('members have all that an execution can have, and the flow has tags of its own', async () => {
  const { engine, sql, clock } = await setup()
  const namespaced = engine.as({ namespace: 'n', actor: 'ann' })
  const { flowId, members } = await namespaced.flows.submitGraph({
    kind: 'f',
    tags: { team: 'x' },
    members: [
      { name: 'a', kind: 'k', lane: 'l', version: 'v', priority: 9, tags: { t: '1' }, payload: Buffer.from('in') },
      { name: 'b', kind: 'k', delay: '1h', deadline: '2h', policy: { retry: { attempts: 3 } }, idempotencyKey: 'key' },
    ],
  })
  const [a, b] = [members['a']!, members['b']!]
  for (const id of [a, b]) expect(parseExecutionId(id).partition).toBe(parseFlowId(flowId).partition)
  const seen = await namespaced.executions.describe(a)
  expect(seen).toMatchObject({ lane: 'l', version: 'v', priority: 9, tags: { t: '1' }, creator: 'ann', namespace: 'n' })
  const now = await engine.serverTime()
  const described = (await namespaced.executions.describe(b))!
  expect(described).toMatchObject({ publicState: 'delayed', policy: { retry: { attempts: 3 } } })
  expect(described.deadlineAt).toBeGreaterThan(now)
  expect(await namespaced.flows.getTag(flowId, 'team')).toBe('x')
  const [key] = await stored.idempotencyKeys.pick(sql, ['namespace', 'scope_id', 'execution_id'])
  expect(key).toEqual({ namespace: 'n', scope_id: parseFlowId(flowId).uuid, execution_id: parseExecutionId(b).uuid })
  await clock.advance('1s')
})

test('a repeated request returns the flow that it created, and another request under its id is refused', async () => {
  const { engine, sql } = await setup()
  const request = { ...chain, flowId: mintFlowId() }
  const first = await engine.flows.submitGraph(request)
  await withoutWriting(sql, async () => {
    expect(await engine.flows.submitGraph({ ...request, creator: 'other' })).toEqual({ ...first, kind: 'duplicate' })
    for (const other of [
      { ...request, kind: 'other' },
      { ...request, stayOpen: true },
      { ...request, tags: { a: 'b' } },
      { ...request, edges: chain.edges.slice(1) },
      { ...request, members: [...chain.members.slice(0, 2), { ...member('c'), payload: Buffer.from('x') }] },
      { ...request, groups: [{ downstream: 'b', policy: { kind: 'any_of' } }] },
    ] satisfies GraphRequest[]) {
      await refusal('flow_id_taken', engine.flows.submitGraph(other))
    }
  })
  const empty = await engine.flows.create({ kind: 'pipeline' })
  await withoutWriting(sql, () =>
    refusal('flow_id_taken', engine.flows.submitGraph({ ...chain, flowId: empty.flowId })),
  )
})

test('the id of an existing execution is refused, and nothing of the graph is written', async () => {
  const { engine, sql } = await setup()
  const flowId = mintFlowId()
  const [one, two] = [mintExecutionId({ flowId }), mintExecutionId({ flowId })]
  await engine.executions.create({ executionId: two, kind: 'b' })
  await engine.executions.create({ kind: 'a' })
  const members = [
    { ...member('a'), executionId: one },
    { ...member('b'), executionId: two },
  ]
  await withoutWriting(sql, async () => {
    const error = await refusal('execution_id_taken', engine.flows.submitGraph({ kind: 'f', flowId, members }))
    expect(error.message).toContain(two)
  })
})

test('a repeated request with given member ids returns the flow too', async () => {
  const { engine } = await setup()
  const flowId = mintFlowId()
  const executionId = mintExecutionId({ flowId })
  const request = { kind: 'f', flowId, members: [{ ...member('a'), executionId }, member('b')] }
  const first = await engine.flows.submitGraph(request)
  expect(first).toMatchObject({ kind: 'submitted', members: { a: executionId } })
  expect(await engine.flows.submitGraph(request)).toEqual({ ...first, kind: 'duplicate' })
  await refusal('flow_id_taken', engine.flows.submitGraph({ ...request, members: request.members.slice(0, 1) }))
})

test('a graph of 10,000 members is one call', async () => {
  const { engine, sql } = await setup()
  const members = Array.from({ length: 10_000 }, (_, index) => ({ name: `m${index}`, kind: 'k' }))
  const edges = members.slice(1).map(({ name }, index) => ({ upstream: `m${Math.floor(index / 2)}`, downstream: name }))
  const submitted = await engine.flows.submitGraph({ kind: 'wide', members, edges })
  expect(Object.keys(submitted.members)).toHaveLength(10_000)
  expect(await stored.members.count(sql)).toBe(10_000)
  expect(await stored.edges.count(sql)).toBe(9999)
  expect(await stored.edgeGroups.count(sql, { is_sealed: true })).toBe(9999)
  expect(await stored.ready.count(sql)).toBe(1)
  // The audits after this test have plans that were made while the tables were empty.
  await sql.script('analyze')
})

test('an edge may have an id that the caller chooses', async () => {
  const { engine } = await setup()
  const edgeId = randomUUID()
  const { flowId } = await engine.flows.submitGraph({ ...chain, edges: [{ edgeId, upstream: 'a', downstream: 'b' }] })
  expect(await engine.flows.describeEdge(flowId, edgeId)).not.toBeNull()
})
