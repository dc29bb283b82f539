// Random flows: acyclic, with every kind of edge and join, and sometimes with a flow inside the flow.
import fc from 'fast-check'
import type { GraphRequest } from '../../../src/engine/flow/graph-request.ts'
import { edgeKinds, type JoinPolicy, type OnSatisfied } from '../../../src/model/edge-group.ts'
import type { ReferenceEdge, ReferenceFlow, ReferenceMember } from '../../model/flow-reference.ts'

export type Random = () => number

/** The same numbers for the same seed, from 0 to 1. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!
}

const mostMembers = 60
const mostInner = 5
const deepest = 2

/** The parameters of a flow: a small one is simple, and so is one with few edges. */
export interface Recipe {
  readonly size: number
  readonly density: number
  /** How often a member is a flow, in tenths. */
  readonly nesting: number
  readonly seed: number
}

export const recipes: fc.Arbitrary<Recipe> = fc.record({
  size: fc.integer({ min: 1, max: mostMembers }),
  density: fc.integer({ min: 1, max: 4 }),
  nesting: fc.integer({ min: 0, max: 4 }),
  seed: fc.nat(),
})

/** Members of inner flows are counted too. */
export function flowOf({ size, density, nesting, seed }: Recipe): ReferenceFlow {
  const random = randomFrom(seed)
  let left = size
  const build = (name: string, count: number, depth: number): ReferenceFlow => {
    const members: ReferenceMember[] = []
    for (let index = 0; index < count && left > 0; index++) {
      left -= 1
      const member = { name: `${name}${index}` }
      const isFlow = depth < deepest && left > 0 && random() < nesting / 10
      members.push(isFlow ? { ...member, flow: build(`${member.name}_`, 1 + random() * mostInner, depth + 1) } : member)
    }
    const edges = members.flatMap(({ name: downstream }, index) =>
      edgesInto(random, members, downstream, index, density),
    )
    return { name, members, edges, policies: policiesOf(random, members, edges) }
  }
  return build('m', size, 0)
}

function edgesInto(
  random: Random,
  members: readonly ReferenceMember[],
  downstream: string,
  index: number,
  density: number,
): ReferenceEdge[] {
  const upstreams = members.slice(Math.max(0, index - 8), index).filter(() => random() < density / 8)
  return upstreams.map(({ name: upstream }) => ({
    upstream,
    downstream,
    kind: random() < 0.6 ? 'success_only' : pick(random, edgeKinds),
  }))
}

function policiesOf(
  random: Random,
  members: readonly ReferenceMember[],
  edges: readonly ReferenceEdge[],
): ReadonlyMap<string, JoinPolicy> {
  const policies = new Map<string, JoinPolicy>()
  for (const { name } of members) {
    const total = edges.filter((edge) => edge.downstream === name).length
    const onSatisfied: OnSatisfied = random() < 0.5 ? 'cancel_remaining' : 'let_run'
    const kind = pick(random, ['all_of', 'all_of', 'any_of', 'quorum'] as const)
    const k = 1 + Math.floor(random() * total)
    if (total > 0) policies.set(name, kind === 'quorum' ? { kind, k, onSatisfied } : { kind, onSatisfied })
  }
  return policies
}

/** The request that submits it; the kind of a member is its name. */
export function requestOf({ members, edges, policies }: ReferenceFlow): GraphRequest {
  return {
    kind: 'random',
    members: members.map(({ name, flow }) =>
      flow === undefined ? { name, kind: name } : { name, flow: requestOf(flow) },
    ),
    edges,
    groups: [...policies].map(([downstream, policy]) => ({ downstream, policy })),
  }
}
