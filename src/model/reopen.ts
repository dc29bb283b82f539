// The skips that the replay of a failed member reverts. An edge from a member that is to run again is open again,
// unless its group has fired and released its downstream. A group that is no longer lost waits again; if its downstream
// was skipped, that member waits too, and the same holds for everything that follows from it.
import { groupState, type EdgeResolution, type GroupState, type JoinPolicy } from './edge-group.ts'

/** A resolved edge from one of the members that may be reopened. */
export interface ResolvedEdge {
  readonly edgeId: string
  readonly upstreamId: string
  readonly downstreamId: string
  readonly resolution: EdgeResolution
}

export interface LostGroup {
  readonly downstreamId: string
  readonly policy: JoinPolicy
  readonly state: GroupState
  readonly total: number
  readonly satisfied: number
  readonly failed: number
  readonly skipped: number
  readonly isSealed: boolean
  readonly isDownstreamSkipped: boolean
}

export interface Reopening {
  /** Members that were skipped and wait again. */
  readonly members: readonly string[]
  /** Edges that are open again. */
  readonly edges: readonly ResolvedEdge[]
  /** With their counts after the replay. */
  readonly groups: readonly LostGroup[]
}

export function reopen(
  replayed: readonly string[],
  edges: readonly ResolvedEdge[],
  groups: ReadonlyMap<string, LostGroup>,
  /**
   * By the member that represents a skipped flow: the members that had ended by themselves in it. Their edges wait for
   * its start again.
   */
  endedAhead: ReadonlyMap<string, Iterable<string>> = new Map(),
): Reopening {
  const edgesFrom = byUpstream(edges)
  const after = new Map<string, LostGroup>()
  const opened: ResolvedEdge[] = []
  const members: string[] = []
  const upstreams = [...replayed]
  // Grows during the loop: each member once, because its group leaves `impossible` once.
  for (const upstream of upstreams) {
    for (const edge of edgesFrom.get(upstream) ?? []) {
      const group = after.get(edge.downstreamId) ?? groups.get(edge.downstreamId)
      if (group === undefined || group.state === 'satisfied') continue
      const counts = { ...group, [edge.resolution]: group[edge.resolution] - 1 }
      const state = groupState(counts.policy, counts)
      opened.push(edge)
      after.set(edge.downstreamId, { ...counts, state })
      if (group.state !== 'impossible' || state !== 'pending' || !group.isDownstreamSkipped) continue
      members.push(edge.downstreamId)
      upstreams.push(edge.downstreamId, ...(endedAhead.get(edge.downstreamId) ?? []))
    }
  }
  return { members, edges: opened, groups: [...after.values()] }
}

function byUpstream(edges: readonly ResolvedEdge[]): ReadonlyMap<string, readonly ResolvedEdge[]> {
  const edgesFrom = new Map<string, ResolvedEdge[]>()
  for (const edge of edges) {
    const found = edgesFrom.get(edge.upstreamId)
    if (found === undefined) edgesFrom.set(edge.upstreamId, [edge])
    else found.push(edge)
  }
  return edgesFrom
}
