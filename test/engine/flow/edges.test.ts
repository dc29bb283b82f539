import { expect, test } from 'vitest'
import { mintExecutionId, mintFlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { complete } from './worked.ts'

const edgeId = '0190a000-0000-7000-8000-000000000001'

test('FLOW-21 an edge is described with all its fields, or with its defaults; an unknown one is null', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const { flowId, members } = await engine.as({ actor: 'ada' }).flows.submitGraph({
    kind: 'k',
    members: ['a', 'b', 'c'].map((name) => ({ name, kind: name })),
    edges: [
      { edgeId, upstream: 'a', downstream: 'b', kind: 'optional', dataRef: 'artifact' },
      { upstream: 'b', downstream: 'c' },
    ],
  })
  const { a, b, c } = members
  const unresolved = { flowId, state: 'pending', resolvedGeneration: null, createdAt: await clock.now() }
  expect(await engine.flows.describeEdge(flowId, edgeId)).toEqual({
    ...unresolved,
    edgeId,
    upstreamId: a,
    downstreamId: b,
    kind: 'optional',
    dataRef: 'artifact',
    createdBy: 'ada',
  })
  const { edges } = await engine.flows.edges(flowId, { to: c! })
  expect(await engine.flows.describeEdge(flowId, edges[0]!.edgeId)).toEqual({
    ...unresolved,
    edgeId: edges[0]!.edgeId,
    upstreamId: b,
    downstreamId: c,
    kind: 'success_only',
    dataRef: null,
    createdBy: 'ada',
  })
  expect(await engine.flows.describeEdge(flowId, mintFlowId().slice(-36))).toBeNull()
  expect(await engine.flows.describeEdge(mintFlowId(), edgeId)).toBeNull()
  await refusal('invalid_id', engine.flows.describeEdge(flowId, 'x'))
  await clock.reset()
})

test('FLOW-22 edges are listed from a member and to it', async () => {
  const { engine } = await setup()
  const { flowId, members } = await engine.flows.submitGraph({
    kind: 'k',
    members: ['up', 'mid', 'other', 'alone'].map((name) => ({ name, kind: name })),
    edges: [
      { upstream: 'up', downstream: 'mid' },
      { upstream: 'up', downstream: 'other' },
    ],
  })
  const { up, mid, other, alone } = members
  const outgoing = await engine.flows.edges(flowId, { from: up! })
  expect(new Set(outgoing.edges.map((edge) => edge.downstreamId))).toEqual(new Set([mid, other]))
  expect((await engine.flows.edges(flowId, { to: mid! })).edges).toMatchObject([{ upstreamId: up }])
  expect((await engine.flows.edges(flowId)).edges).toHaveLength(2)
  const nothing = { edges: [], nextCursor: null }
  expect(await engine.flows.edges(flowId, { from: alone! })).toEqual(nothing)
  expect(await engine.flows.edges(flowId, { from: mintExecutionId() })).toEqual(nothing)
  expect(await engine.flows.edges(mintFlowId(), { from: up! })).toEqual(nothing)
  await refusal('invalid_input', engine.flows.edges(flowId, { from: up!, to: mid! }))
})

test('edges are listed in pages, each once', async () => {
  const { engine } = await setup()
  const names = ['a', 'b', 'c', 'd', 'e']
  const { flowId, members } = await engine.flows.submitGraph({
    kind: 'k',
    members: ['up', ...names].map((name) => ({ name, kind: name })),
    edges: names.map((downstream) => ({ upstream: 'up', downstream })),
  })
  const from = members['up']!
  const first = await engine.flows.edges(flowId, { from, limit: 3 })
  const second = await engine.flows.edges(flowId, { from, limit: 3, cursor: first.nextCursor! })
  expect([first.edges.length, second.edges.length, second.nextCursor]).toEqual([3, 2, null])
  expect(new Set([...first.edges, ...second.edges].map((edge) => edge.edgeId)).size).toBe(5)
  await refusal('invalid_cursor', engine.flows.edges(flowId, { cursor: first.nextCursor! }))
  expect(await engine.flows.edges(flowId, { from, limit: 0 })).toEqual({ edges: [], nextCursor: null })
})

test("a resolved edge shows the effect of its upstream's ending", async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph({
    kind: 'k',
    members: ['a', 'b'].map((name) => ({ name, kind: name })),
    edges: [{ edgeId, upstream: 'a', downstream: 'b' }],
  })
  await complete(engine, 'a')
  await complete(engine, 'b')
  expect(await engine.flows.describeEdge(flowId, edgeId)).toMatchObject({ state: 'satisfied', resolvedGeneration: 0 })
})
