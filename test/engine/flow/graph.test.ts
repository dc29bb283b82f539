import { expect, test } from 'vitest'
import type { FlowGraph } from '../../../src/engine/flow/graph.ts'
import { mintFlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'

test('a graph shows members, edges and groups', async () => {
  const { engine } = await setup()
  const { flowId, members, innerFlows } = await engine.flows.submitGraph({
    kind: 'k',
    members: [
      { name: 'a', kind: 'build', lane: 'fast' },
      { name: 'b', flow: { kind: 'inner', members: [{ name: 'x', kind: 'x' }] } },
      { name: 'c', kind: 'deploy' },
    ],
    edges: [
      { upstream: 'a', downstream: 'b' },
      { upstream: 'a', downstream: 'c', kind: 'optional', dataRef: 'artifact' },
      { upstream: 'b', downstream: 'c' },
    ],
    groups: [{ downstream: 'c', policy: { kind: 'any_of' } }],
  })
  const graph = (await engine.flows.graph(flowId))!
  const { a, b, c } = members
  expect(graph).toMatchObject({ flowId, graphRevision: 1, nextCursor: null })
  const shown = new Map(graph.members.map((member) => [member.name, member]))
  expect(shown.get('a')).toEqual({
    executionId: a,
    name: 'a',
    subFlowId: null,
    kind: 'build',
    lane: 'fast',
    publicState: 'waiting',
    generation: 0,
    startedAt: null,
    endedAt: null,
    reason: null,
  })
  expect(shown.get('b')).toMatchObject({ subFlowId: innerFlows['b']!.flowId, publicState: 'waiting_children' })
  expect(
    graph.edges
      .map(({ upstreamId, downstreamId, kind, dataRef, state }) => [upstreamId, downstreamId, kind, dataRef, state])
      .toSorted(),
  ).toEqual(
    [
      [a, b, 'success_only', null, 'pending'],
      [a, c, 'optional', 'artifact', 'pending'],
      [b, c, 'success_only', null, 'pending'],
    ].toSorted(),
  )
  const groups = new Map(graph.groups.map((group) => [group.downstreamId, group]))
  expect(groups.size).toBe(2)
  expect(groups.get(b!)).toMatchObject({ policy: { kind: 'all_of', onSatisfied: 'let_run' }, total: 1, running: 1 })
  expect(groups.get(c!)).toMatchObject({ policy: { kind: 'any_of', onSatisfied: 'cancel_remaining' }, total: 2 })

  const inner = (await engine.flows.graph(innerFlows['b']!.flowId))!
  expect(inner.edges).toMatchObject([{ upstreamId: b, downstreamId: innerFlows['b']!.members['x'], kind: 'start' }])
})

test('the pages of a graph have every member, edge and group once', async () => {
  const { engine } = await setup()
  const names = Array.from({ length: 7 }, (_, index) => `m${index}`)
  const { flowId, members } = await engine.flows.submitGraph({
    kind: 'chain',
    members: names.map((name) => ({ name, kind: 'k' })),
    edges: names.slice(1).map((downstream, index) => ({ upstream: names[index]!, downstream })),
  })
  const seen = { members: [] as string[], edges: [] as string[], groups: [] as string[] }
  let cursor: string | null = null
  do {
    const page: FlowGraph = (await engine.flows.graph(flowId, { limit: 3, ...(cursor !== null && { cursor }) }))!
    expect(page.members.length).toBeLessThanOrEqual(3)
    seen.members.push(...page.members.map((member) => member.executionId))
    seen.edges.push(...page.edges.map((edge) => edge.edgeId))
    seen.groups.push(...page.groups.map((group) => group.downstreamId))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(seen.members.toSorted()).toEqual(Object.values(members).toSorted())
  expect([seen.edges.length, new Set(seen.edges).size]).toEqual([6, 6])
  expect([seen.groups.length, new Set(seen.groups).size]).toEqual([6, 6])
})

test('a page ends where it has twice as many edges as members, and the next one continues with the others', async () => {
  const { engine } = await setup()
  const names = Array.from({ length: 7 }, (_, index) => `m${index}`)
  const { flowId, members } = await engine.flows.submitGraph({
    kind: 'joins',
    members: [...names, 'join', 'last'].map((name) => ({ name, kind: 'k' })),
    edges: names.flatMap((upstream) =>
      ['join', 'last'].map((downstream) => ({ upstream, downstream, dataRef: upstream })),
    ),
  })
  for (const limit of [1, 2, 3, 9]) {
    const pages: FlowGraph[] = []
    let cursor: string | null = null
    do {
      const page: FlowGraph = (await engine.flows.graph(flowId, { limit, ...(cursor !== null && { cursor }) }))!
      pages.push(page)
      cursor = page.nextCursor
    } while (cursor !== null)
    for (const page of pages) {
      expect(page.members.length).toBeLessThanOrEqual(limit)
      expect(page.edges.length).toBeLessThanOrEqual(2 * limit)
      expect(page.members.length + page.edges.length).toBeGreaterThan(0)
    }
    expect(pages.flatMap((page) => page.members.map((member) => member.executionId)).toSorted()).toEqual(
      Object.values(members).toSorted(),
    )
    const edges = pages.flatMap((page) => page.edges.map((edge) => `${edge.dataRef} ${edge.downstreamId}`))
    expect([edges.length, new Set(edges).size]).toEqual([14, 14])
    expect(pages.flatMap((page) => page.groups)).toHaveLength(2)
  }
})

test('a flow without members has an empty graph, and an unknown one has none', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.create({ kind: 'k' })
  expect(await engine.flows.graph(flowId)).toEqual({
    flowId,
    graphRevision: 0,
    members: [],
    edges: [],
    groups: [],
    nextCursor: null,
  })
  expect(await engine.flows.graph(mintFlowId())).toBeNull()
  for (const limit of [0, 10_001, 1.5]) await refusal('invalid_input', engine.flows.graph(flowId, { limit }))
})
