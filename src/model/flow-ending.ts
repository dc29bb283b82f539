// How a flow ends, and why its members were skipped. The engine decides both once, when the flow ends, from all of its edges: the
// order in which the members ended does not matter.
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
  /** How many of its edges were satisfied. */
  readonly satisfied: number
}

/** Members that succeeded, their edges, and joins that only they lead to may be left out: they change nothing. */
export interface EndedFlow {
  readonly members: readonly EndedMember[]
  readonly edges: readonly EndedEdge[]
  readonly joins: readonly EndedJoin[]
}

/** A flow, and the flows that its skipped members represent. */
export interface EndedTree {
  readonly flow: EndedFlow
  /** Of its skipped members, as their skips were stored. */
  readonly storedReasons: ReadonlyMap<string, string | null>
  /** By the skipped member that represents the flow. */
  readonly nested: ReadonlyMap<string, EndedTree>
}

export function flowOutcome(flow: EndedFlow): 'success' | 'failed' {
  const handled = handledMembers(flow)
  return flow.members.some(({ id, ending }) => isFailure(ending) && !handled.has(id)) ? 'failed' : 'success'
}

/** The members that did not succeed and whose ending was handled. */
function handledMembers({ members, edges, joins }: EndedFlow): ReadonlySet<string> {
  const endings = new Map(members.map(({ id, ending }) => [id, ending]))
  const joinOf = new Map(joins.map((join) => [join.downstreamId, join]))
  const flawed = edges.filter(({ upstreamId }) => endings.get(upstreamId) !== 'success')
  const isHandledBy = ({ upstreamId, downstreamId, kind, resolution }: EndedEdge) => {
    const { isSatisfied, quorum, satisfied } = joinOf.get(downstreamId)!
    if (!isSatisfied) return false
    if (resolveEdge(kind, endings.get(upstreamId)!) === 'satisfied') return true
    return quorum !== null && satisfied - (resolution === 'satisfied' ? 1 : 0) >= quorum
  }
  const handled = new Set(flawed.filter(isHandledBy).map(({ upstreamId }) => upstreamId))
  const flawedInto = edgesBy('downstreamId', flawed)
  // The loop visits the members that it adds, too.
  for (const id of handled) {
    if (joinOf.get(id)?.isSatisfied !== false) continue
    for (const { upstreamId } of flawedInto.get(id) ?? []) handled.add(upstreamId)
  }
  return handled
}

/**
 * By id, for each member that was skipped. A failure reaches the members that needed its success, and through them those behind;
 * an `optional` edge stops it. `isStruck`: a failure skipped the member that represents the flow, so nothing in the flow ran.
 */
export function skipReasons({ members, edges }: EndedFlow, isStruck: boolean): ReadonlyMap<string, SkipReason> {
  const skipped = new Set(members.filter(({ ending }) => ending === 'skipped').map(({ id }) => id))
  const failed = new Set(members.filter(({ ending }) => isFailure(ending)).map(({ id }) => id))
  const needed = edges.filter(({ upstreamId, kind }) => failed.has(upstreamId) && kind === 'success_only')
  const edgesFrom = edgesBy('upstreamId', edges)
  const struck = new Set(isStruck ? skipped : needed.map((edge) => edge.downstreamId).filter((id) => skipped.has(id)))
  // The loop visits the members that it adds, too.
  for (const id of struck) {
    for (const { downstreamId, kind } of edgesFrom.get(id) ?? []) {
      if (kind !== 'optional' && skipped.has(downstreamId)) struck.add(downstreamId)
    }
  }
  return new Map([...skipped].map((id) => [id, struck.has(id) ? 'dependency_failed' : 'not_needed']))
}

/** The reasons of a tree that are no longer as they were stored: a skip is written when only a part of the edges is resolved. */
export function changedReasons(tree: EndedTree, isStruck: boolean): ReadonlyMap<string, SkipReason> {
  const changed = new Map<string, SkipReason>()
  const reasons = skipReasons(tree.flow, isStruck)
  for (const [id, reason] of reasons) {
    if (tree.storedReasons.get(id) !== reason) changed.set(id, reason)
  }
  for (const [id, nested] of tree.nested) {
    for (const [inner, reason] of changedReasons(nested, reasons.get(id) === 'dependency_failed'))
      changed.set(inner, reason)
  }
  return changed
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
