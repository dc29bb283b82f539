import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  groupState,
  quorumOf,
  resolveEdge,
  type EdgeKind,
  type Ending,
  type JoinPolicy,
} from '../../src/model/edge-group.ts'
import { flowOutcome, skipReasons, type EndedFlow } from '../../src/model/flow-ending.ts'

interface Given {
  readonly endings: Readonly<Record<string, Ending>>
  readonly edges?: readonly (readonly [upstream: string, downstream: string, kind?: EdgeKind])[]
  readonly policies?: Readonly<Record<string, JoinPolicy>>
}

const anyOf: JoinPolicy = { kind: 'any_of', onSatisfied: 'let_run' }

/** With every edge resolved by how its upstream ended. */
function flowOf({ endings, edges: given = [], policies = {} }: Given): EndedFlow {
  const edges = given.map(([upstreamId, downstreamId, kind = 'success_only']) => {
    return { upstreamId, downstreamId, kind, resolution: resolveEdge(kind, endings[upstreamId]!) }
  })
  const downstreams = [...new Set(edges.map((edge) => edge.downstreamId))]
  const joins = downstreams.map((downstreamId) => {
    const inbound = edges.filter((edge) => edge.downstreamId === downstreamId)
    const count = (resolution: string) => inbound.filter((edge) => edge.resolution === resolution).length
    const counts = { satisfied: count('satisfied'), failed: count('failed'), skipped: count('skipped') }
    const policy = policies[downstreamId] ?? { kind: 'all_of', onSatisfied: 'let_run' }
    const state = groupState(policy, { ...counts, total: inbound.length, isSealed: true })
    return { downstreamId, isSatisfied: state === 'satisfied', quorum: quorumOf(policy), satisfied: counts.satisfied }
  })
  const members = Object.entries(endings).map(([id, ending]) => ({ id, ending }))
  return { members, edges, joins }
}

test.each<[claim: string, given: Given, outcome: 'success' | 'failed']>([
  ['without a failure it succeeds', { endings: { a: 'success', b: 'skipped' } }, 'success'],
  ['a failure that leads nowhere fails it', { endings: { a: 'failed' } }, 'failed'],
  ['so does a cancel', { endings: { a: 'cancelled' } }, 'failed'],
  ['so does an expiry', { endings: { a: 'expired' } }, 'failed'],
  [
    'a failure is handled by a join that it satisfied',
    { endings: { a: 'failed', b: 'success' }, edges: [['a', 'b', 'on_failure']] },
    'success',
  ],
  [
    'an edge that a failure satisfied handles nothing when its join was not satisfied',
    {
      endings: { a: 'failed', b: 'success', c: 'skipped' },
      edges: [
        ['a', 'c', 'on_failure'],
        ['b', 'c', 'on_failure'],
      ],
    },
    'failed',
  ],
  [
    'a failure is handled by a join that another edge satisfied',
    {
      endings: { a: 'failed', b: 'success', c: 'success' },
      edges: [
        ['a', 'c'],
        ['b', 'c'],
      ],
      policies: { c: anyOf },
    },
    'success',
  ],
  [
    'that join may come behind members which did not run',
    {
      endings: { a: 'failed', skipped: 'skipped', cancelled: 'cancelled', b: 'success', c: 'success' },
      edges: [
        ['a', 'skipped'],
        ['skipped', 'cancelled'],
        ['cancelled', 'c'],
        ['b', 'c'],
      ],
      policies: { c: anyOf },
    },
    'success',
  ],
  [
    'a failure does not pass through a member that ran',
    {
      endings: { a: 'failed', b: 'failed', c: 'success' },
      edges: [
        ['a', 'b', 'on_failure'],
        ['b', 'c', 'on_failure'],
      ],
    },
    'success',
  ],
])('%s', (_, given, outcome) => {
  expect(flowOutcome(flowOf(given))).toBe(outcome)
})

test('a failure of a member in its replay is not handled by the join that its first ending satisfied', () => {
  const flow = flowOf({ endings: { a: 'failed', b: 'success' }, edges: [['a', 'b']] })
  const replayed: EndedFlow = {
    ...flow,
    edges: flow.edges.map((edge) => ({ ...edge, resolution: 'satisfied' })),
    joins: [{ downstreamId: 'b', isSatisfied: true, quorum: null, satisfied: 1 }],
  }
  expect(flowOutcome(replayed)).toBe('failed')
  expect(flowOutcome({ ...replayed, joins: [{ downstreamId: 'b', isSatisfied: true, quorum: 1, satisfied: 1 }] })).toBe(
    'failed',
  )
})

test('a failure is the reason of every skip that it reaches, and an optional edge stops it', () => {
  const flow = flowOf({
    endings: { a: 'failed', b: 'success', c: 'skipped', d: 'skipped', e: 'skipped', f: 'skipped' },
    edges: [
      ['b', 'c', 'on_failure'],
      ['c', 'd'],
      ['a', 'd'],
      ['d', 'e', 'on_failure'],
      ['d', 'f', 'optional'],
      ['c', 'f'],
    ],
  })
  const reasons = { c: 'not_needed', d: 'dependency_failed', e: 'dependency_failed', f: 'not_needed' }
  expect(Object.fromEntries(skipReasons(flow, false))).toEqual(reasons)
  expect(new Set(skipReasons(flow, true).values())).toEqual(new Set(['dependency_failed']))
})

const endings: readonly Ending[] = ['success', 'failed', 'cancelled', 'expired', 'skipped']
const kinds: readonly EdgeKind[] = ['success_only', 'optional', 'on_failure']

/** Members `0` to `count - 1` and edges upward. */
const anyFlow = fc
  .array(fc.constantFrom(...endings), { minLength: 1, maxLength: 12 })
  .chain((all) => {
    const at = fc.nat({ max: all.length - 1 })
    const edges = fc.uniqueArray(fc.tuple(at, at, fc.constantFrom(...kinds)), {
      selector: ([from, to]) => `${from} ${to}`,
    })
    return fc.tuple(fc.constant(all), edges, fc.array(fc.boolean(), { minLength: all.length, maxLength: all.length }))
  })
  .map(([all, edges, isAny]): Given => ({
    endings: Object.fromEntries(all.map((ending, index) => [`m${index}`, ending])),
    edges: edges.filter(([from, to]) => from < to).map(([from, to, kind]) => [`m${from}`, `m${to}`, kind]),
    policies: Object.fromEntries(isAny.flatMap((any, index) => (any ? [[`m${index}`, anyOf]] : []))),
  }))

test('neither depends on the order of members, edges and joins', () => {
  fc.assert(
    fc.property(anyFlow, fc.infiniteStream(fc.nat()), (given, numbers) => {
      const flow = flowOf(given)
      const shuffled = <T>(from: readonly T[]) =>
        from
          .map((one) => [numbers.next().value as number, one] as const)
          .toSorted(([a], [b]) => a - b)
          .map(([, one]) => one)
      const other = { members: shuffled(flow.members), edges: shuffled(flow.edges), joins: shuffled(flow.joins) }
      expect(flowOutcome(other)).toBe(flowOutcome(flow))
      expect(new Map(skipReasons(other, false))).toEqual(skipReasons(flow, false))
    }),
  )
})

test('one more failure without an edge fails any flow', () => {
  fc.assert(
    fc.property(anyFlow, (given) => {
      expect(flowOutcome(flowOf({ ...given, endings: { ...given.endings, alone: 'failed' } }))).toBe('failed')
    }),
  )
})
