// Decides how a flow ends, and why its members were skipped. Both are decided once, when the flow ends, from all of its
// edges: the order in which the members ended does not matter. `engine/transition/evaluate-flow-ending.ts` has the same
// rules in SQL; a test compares them.
//
// A flow fails when a member failed, was cancelled or expired and that ending was not handled. A join handles it that the member
// leads to and that was satisfied: by the member's ending (`on_failure`, `optional`), or by enough of its other edges. The way to
// that join may lead through members that did not run, because they were skipped or cancelled before their turn.
import { resolveEdge, type EdgeKind, type EdgeResolution, type Ending } from './edge-group.ts'

export type SkipReason = 'dependency_failed' | 'not_needed'

export interface EndedMember {
  readonly id: string
  readonly ending: Ending
}

/** Between two members of the flow. */
export interface EndedEdge {
  readonly upstreamId: string
  readonly downstreamId: string
  readonly kind: EdgeKind
  /** As it was counted; a replay may have ended its upstream in another way since. */
  readonly resolution: EdgeResolution
}

/** What a member waited for. */
export interface EndedJoin {
  readonly downstreamId: string
  readonly isSatisfied: boolean
  /** How many edges it needed; null for all of them. */
  readonly quorum: number | null
}

export interface EndedFlow {
  readonly members: readonly EndedMember[]
  readonly edges: readonly EndedEdge[]
  readonly joins: readonly EndedJoin[]
}

export function flowOutcome(flow: EndedFlow): 'success' | 'failed' {
  const handled = handledMembers(flow)
  return flow.members.some(({ id, ending }) => isFailure(ending) && !handled.has(id)) ? 'failed' : 'success'
}

/** Of those that did not succeed: whose ending was handled. */
function handledMembers({ members, edges, joins }: EndedFlow): ReadonlySet<string> {
  const endings = new Map(members.map(({ id, ending }) => [id, ending]))
  const joinOf = new Map(joins.map((join) => [join.downstreamId, join]))
  const satisfied = edgesBy(
    'downstreamId',
    edges.filter(({ resolution }) => resolution === 'satisfied'),
  )
  const flawed = edges.filter(({ upstreamId }) => endings.get(upstreamId) !== 'success')
  const isHandledBy = ({ upstreamId, downstreamId, kind, resolution }: EndedEdge) => {
    const { isSatisfied, quorum } = joinOf.get(downstreamId)!
    if (!isSatisfied) return false
    if (resolveEdge(kind, endings.get(upstreamId)!) === 'satisfied') return true
    const others = (satisfied.get(downstreamId)?.length ?? 0) - (resolution === 'satisfied' ? 1 : 0)
    return quorum !== null && others >= quorum
  }
  const handled = new Set(flawed.filter(isHandledBy).map(({ upstreamId }) => upstreamId))
  const flawedInto = edgesBy('downstreamId', flawed)
  // Grows while it is walked.
  for (const id of handled) {
    if (joinOf.get(id)?.isSatisfied !== false) continue
    for (const { upstreamId } of flawedInto.get(id) ?? []) handled.add(upstreamId)
  }
  return handled
}

/**
 * By id, for each member that was skipped. A failure reaches the members that needed its success, and through them those behind;
 * an `optional` edge stops it. `isStruck`: the flow is within a member that a failure skipped, and so nothing in it ran.
 */
export function skipReasons({ members, edges }: EndedFlow, isStruck: boolean): ReadonlyMap<string, SkipReason> {
  const skipped = new Set(members.filter(({ ending }) => ending === 'skipped').map(({ id }) => id))
  const failed = new Set(members.filter(({ ending }) => isFailure(ending)).map(({ id }) => id))
  const needed = edges.filter(({ upstreamId, kind }) => failed.has(upstreamId) && kind === 'success_only')
  const edgesFrom = edgesBy('upstreamId', edges)
  const struck = new Set(isStruck ? skipped : needed.map((edge) => edge.downstreamId).filter((id) => skipped.has(id)))
  // Grows while it is walked.
  for (const id of struck) {
    for (const { downstreamId, kind } of edgesFrom.get(id) ?? []) {
      if (kind !== 'optional' && skipped.has(downstreamId)) struck.add(downstreamId)
    }
  }
  return new Map([...skipped].map((id) => [id, struck.has(id) ? 'dependency_failed' : 'not_needed']))
}

function isFailure(ending: Ending): boolean {
  return ending !== 'success' && ending !== 'skipped'
}

function edgesBy(end: 'upstreamId' | 'downstreamId', edges: readonly EndedEdge[]): ReadonlyMap<string, EndedEdge[]> {
  const found = new Map<string, EndedEdge[]>()
  for (const edge of edges) {
    const others = found.get(edge[end])
    if (others === undefined) found.set(edge[end], [edge])
    else others.push(edge)
  }
  return found
}
