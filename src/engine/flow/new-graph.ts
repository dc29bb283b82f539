// A checked graph, as the statements take it.
import type { JoinPolicy, StoredEdgeKind } from '../../model/edge-group.ts'
import type { CheckedExecution } from '../transition/new-execution.ts'
import type { NewFlow } from './flow-request.ts'

export interface NewGraph {
  /** The outermost is the first. */
  readonly flows: readonly NewFlow[]
  readonly members: readonly NewMember[]
  readonly edges: readonly NewEdge[]
  readonly groups: readonly NewGroup[]
  readonly isClosed: boolean
  readonly requestHash: Uint8Array
}

export interface NewMember {
  readonly flowUuid: string
  readonly name: string
  readonly execution: CheckedExecution
  /** The flow that it represents; such a member stays blocked until that has ended. */
  readonly subFlow: NewFlow | null
  /** It waits for an edge. */
  readonly isHeld: boolean
}

export interface NewEdge {
  readonly flowUuid: string
  readonly edgeUuid: string
  readonly upstreamUuid: string
  readonly downstreamUuid: string
  readonly kind: StoredEdgeKind
  readonly dataRef: string | null
}

export interface NewGroup {
  readonly flowUuid: string
  readonly downstreamUuid: string
  readonly policy: JoinPolicy
  readonly total: number
}
