import { expect, test } from 'vitest'
import type { EdgeResolution, JoinPolicy } from '../../src/model/edge-group.ts'
import { reopen, type LostGroup, type ResolvedEdge } from '../../src/model/reopen.ts'

const allOf: JoinPolicy = { kind: 'all_of', onSatisfied: 'let_run' }

function edge(upstreamId: string, downstreamId: string, resolution: EdgeResolution): ResolvedEdge {
  return { edgeId: `${upstreamId}>${downstreamId}`, upstreamId, downstreamId, resolution }
}

function group(downstreamId: string, counts: Partial<LostGroup>): [string, LostGroup] {
  const none = { total: 1, satisfied: 0, failed: 0, skipped: 0, isSealed: true, isDownstreamSkipped: true }
  return [downstreamId, { downstreamId, policy: allOf, state: 'impossible', ...none, ...counts }]
}

test('skips are reverted along the graph, as far as they reached', () => {
  const edges = [edge('a', 'b', 'failed'), edge('b', 'c', 'skipped'), edge('x', 'c', 'satisfied')]
  const groups = new Map([group('b', { failed: 1 }), group('c', { total: 2, satisfied: 1, skipped: 1 })])
  const reopening = reopen(['a'], edges, groups)
  expect(reopening.members).toEqual(['b', 'c'])
  expect(reopening.edges.map(({ edgeId }) => edgeId)).toEqual(['a>b', 'b>c'])
  expect(reopening.groups).toMatchObject([
    { downstreamId: 'b', state: 'pending', failed: 0 },
    { downstreamId: 'c', state: 'pending', satisfied: 1, skipped: 0 },
  ])
})

test('a join that another edge has lost too stays lost, and so do its consequences', () => {
  const edges = [edge('a', 'b', 'failed'), edge('x', 'b', 'failed'), edge('b', 'c', 'skipped')]
  const groups = new Map([group('b', { total: 2, failed: 2 }), group('c', { skipped: 1 })])
  expect(reopen(['a'], edges, groups)).toMatchObject({ members: [], groups: [{ state: 'impossible', failed: 1 }] })
  expect(reopen(['a', 'x'], edges, groups).members).toEqual(['b', 'c'])
})

test('a join that has freed its member keeps the resolutions of its edges', () => {
  const groups = new Map([group('b', { state: 'satisfied', satisfied: 1, isDownstreamSkipped: false })])
  expect(reopen(['a'], [edge('a', 'b', 'satisfied')], groups)).toEqual({ members: [], edges: [], groups: [] })
})

test('a join that still waits stops counting the edge; one that ended in another way is not reopened', () => {
  const waiting = new Map([group('b', { total: 2, satisfied: 1, state: 'pending', isDownstreamSkipped: false })])
  expect(reopen(['a'], [edge('a', 'b', 'satisfied')], waiting)).toMatchObject({
    members: [],
    groups: [{ state: 'pending', satisfied: 0 }],
  })
  const cancelled = new Map([group('b', { failed: 1, isDownstreamSkipped: false })])
  expect(reopen(['a'], [edge('a', 'b', 'failed')], cancelled)).toMatchObject({
    members: [],
    groups: [{ state: 'pending', failed: 0 }],
  })
})

test('a member that is reached twice is reopened once, and each of its edges once', () => {
  const quorum: JoinPolicy = { kind: 'quorum', k: 1, onSatisfied: 'let_run' }
  const edges = [edge('a', 'd', 'failed'), edge('b', 'd', 'failed'), edge('d', 'e', 'skipped')]
  const groups = new Map([group('d', { policy: quorum, total: 2, failed: 2 }), group('e', { skipped: 1 })])
  const reopening = reopen(['a', 'b'], edges, groups)
  expect(reopening.members).toEqual(['d', 'e'])
  expect(reopening.edges).toHaveLength(3)
  expect(reopening.groups).toMatchObject([{ failed: 0 }, { skipped: 0 }])
})
