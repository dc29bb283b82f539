// The facts from which `resolve-endings.ts` decides what endings do to their flows.
import type { EndedTree } from './flow-ending.ts'
import type { GroupCounts, GroupState, StoredEdgeKind } from './edge-group.ts'
import type { TerminalOutcome } from './state.ts'

export type CancelPolicy = 'cancel_all' | 'cancel_pending' | 'flow_only'

/** The ending of a member; without an outcome, the start of the nested flow that the member represents. */
export interface MemberEnding {
  readonly executionId: string
  readonly generation: number
  readonly outcome: TerminalOutcome
  readonly flowId: string
  /** The flow that the member represents. */
  readonly subFlowId: string | null
  readonly isSkippedByFailure: boolean
  /** Its flow has counted it before: only edges that were added since are resolved. */
  readonly isCounted: boolean
}

/** A flow as it is before these endings. */
export interface FlowFact {
  readonly flowId: string
  /** The member that represents this flow; null for an outermost flow. */
  readonly representative: Representative | null
  /** The flow has not started: its representative waits. */
  readonly isHeld: boolean
  readonly isClosed: boolean
  readonly hasEnded: boolean
  readonly cancelPolicy: CancelPolicy | null
  readonly memberCount: number
  readonly successCount: number
  /** Members that are counted, however they ended. */
  readonly endedCount: number
}

export interface Representative {
  readonly executionId: string
  readonly outcome: TerminalOutcome
  readonly reason: string | null
}

/** An unresolved edge from a member that has ended. */
export interface OpenEdge {
  readonly edgeId: string
  readonly flowId: string
  readonly upstream: MemberEnding
  readonly downstreamId: string
  readonly kind: StoredEdgeKind
}

/** The group of a downstream member. */
export interface GroupFact extends GroupCounts {
  readonly downstreamId: string
  readonly flowId: string
  /** How many edges must be satisfied; null for all of them. */
  readonly quorum: number | null
  /** Upstream members that still run when the group fires are cancelled. */
  readonly cancelsRemaining: boolean
  readonly state: GroupState
  /** The member waits for the group. */
  readonly isBlocked: boolean
  readonly isLocked: boolean
  /** It represents a flow. */
  readonly isFlow: boolean
  readonly hasStarted: boolean
}

export interface Facts {
  readonly endings: readonly MemberEnding[]
  /** Flows that a caller closes: they accept no more members. */
  readonly closing: readonly string[]
  readonly flows: ReadonlyMap<string, FlowFact>
  readonly edges: readonly OpenEdge[]
  /** There may be more edges than were read: no ending is resolved completely. */
  readonly isCutShort: boolean
  readonly groups: ReadonlyMap<string, GroupFact>
  readonly extra: ExtraFacts
}

/** What an earlier decision on the same endings lacked. */
export interface ExtraFacts {
  /** Downstream members, and whether a skip by a failure reaches them through an edge. */
  readonly skips: ReadonlyMap<string, boolean>
  readonly trees: ReadonlyMap<string, EndedTree>
  readonly locked: ReadonlySet<string>
  /** Executions whose lock was tried. */
  readonly tried: ReadonlySet<string>
}

export const noExtraFacts: ExtraFacts = { skips: new Map(), trees: new Map(), locked: new Set(), tried: new Set() }

export interface Lacks {
  readonly skips: readonly string[]
  readonly trees: readonly string[]
  readonly locks: readonly string[]
}
