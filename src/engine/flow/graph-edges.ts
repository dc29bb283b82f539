// The edges of a graph, and their policies, by the numbers of the members that they name.
import { parseEdgeKind, parseJoinPolicy, type EdgeKind, type JoinPolicy } from '../../model/edge-group.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { findCycle } from '../../model/graph.ts'
import { parseEdgeId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { nearest, show } from '../../model/text.ts'
import { mintUuid } from '../../model/uuid.ts'
import { checkDataRef } from './flow-request.ts'
import { cycleDetected, selfEdge } from './graph-refusal.ts'
import type { EdgeTraits, GraphEdge, GraphGroup } from './graph-request.ts'

/** The number of each member, by its name. */
export type Numbers = ReadonlyMap<string, number>

export interface CheckedTraits {
  readonly edgeUuid: string
  readonly minted: boolean
  readonly kind: EdgeKind
  readonly dataRef: string | null
}

export interface NumberedEdge extends CheckedTraits {
  readonly from: number
  readonly to: number
}

/** Its known fields; the caller has refused the others. */
export function checkEdgeTraits(at: string, { edgeId, kind, dataRef }: EdgeTraits): CheckedTraits {
  return {
    edgeUuid: edgeId === undefined ? mintUuid() : parseEdgeId(edgeId),
    minted: edgeId === undefined,
    kind: kind === undefined ? 'success_only' : parseEdgeKind(`${at}kind`, kind),
    dataRef: dataRef === undefined ? null : checkDataRef(`${at}dataRef`, dataRef),
  }
}

export function readEdges(edges: readonly GraphEdge[], numbers: Numbers, at: string): NumberedEdge[] {
  const ids = new Set<string>()
  const pairs = new Set<number>()
  const read = edges.map((edge, index) => {
    const field = `${at}edges[${index}]`
    refuseUnknownFields(field, edge, ['edgeId', 'upstream', 'downstream', 'kind', 'dataRef'])
    const { upstream, downstream } = edge
    const from = numberOf(`${field}.upstream`, upstream, numbers)
    const to = numberOf(`${field}.downstream`, downstream, numbers)
    if (from === to) throw selfEdge(field, upstream)
    const traits = checkEdgeTraits(`${field}.`, edge)
    if (ids.has(traits.edgeUuid)) throw secondEdge(field, `has the id ${traits.edgeUuid}`)
    const pair = from * numbers.size + to
    if (pairs.has(pair)) throw secondEdge(field, `leads from ${show(upstream)} to ${show(downstream)}`)
    ids.add(traits.edgeUuid)
    pairs.add(pair)
    return { from, to, ...traits }
  })
  const cycle = findCycle(numbers.size, read)
  if (cycle === null) return read
  const names = [...numbers.keys()]
  throw cycleDetected(cycle.map((number) => names[number]!))
}

export function readGroups(groups: readonly GraphGroup[], numbers: Numbers, at: string): Map<number, JoinPolicy> {
  const policies = new Map<number, JoinPolicy>()
  groups.forEach((group, index) => {
    const field = `${at}groups[${index}]`
    refuseUnknownFields(field, group, ['downstream', 'policy'])
    const number = numberOf(`${field}.downstream`, group.downstream, numbers)
    if (policies.has(number)) {
      throw refusal('invalid_input', `${field}.downstream`, show(group.downstream), 'a member that has no other group')
    }
    policies.set(number, parseJoinPolicy(`${field}.policy`, group.policy))
  })
  return policies
}

function secondEdge(field: string, fact: string): EngineError {
  return new EngineError('edge_exists', `${field} ${fact}, like an earlier edge; remove one of them`, { field })
}

// The search for a similar name takes long among many.
const mostNamesToCompare = 1000

function numberOf(field: string, name: unknown, numbers: Numbers): number {
  const number = numbers.get(name as string)
  if (number !== undefined) return number
  const names = numbers.size <= mostNamesToCompare ? [...numbers.keys()] : []
  const meant = typeof name === 'string' ? nearest(name, names) : undefined
  const hint = meant === undefined ? '' : `; did you mean ${show(meant)}?`
  throw refusal('invalid_dependency', field, show(name), `the name of a member${hint}`)
}
