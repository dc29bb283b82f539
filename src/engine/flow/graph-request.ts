// A whole graph as a caller writes it: members by name, edges between names, and policies. A member may be a flow
// itself; the execution that represents it is never claimed, and ends with it.
import type { EdgeKind, JoinPolicyInput } from '../../model/edge-group.ts'
import type { CreateRequest } from '../execution/create-request.ts'
import type { FlowRequest } from './flow-request.ts'

export interface GraphRequest extends FlowRequest, Graph {
  /**
   * It accepts more members and edges until `close`; otherwise it is closed from the start, and ends with its last
   * member.
   */
  readonly stayOpen?: boolean
}

export interface Graph {
  readonly members: readonly GraphMember[]
  readonly edges?: readonly GraphEdge[]
  /** For members that wait for less than all of their edges. */
  readonly groups?: readonly GraphGroup[]
}

export type GraphMember = ExecutionMember | FlowMember

export interface ExecutionMember extends MemberExecution {
  /** Unique in its flow. */
  readonly name: string
  readonly flow?: undefined
}

/** Its namespace is the flow's, and its idempotency key is unique within the flow. */
export type MemberExecution = Omit<CreateRequest, 'namespace' | 'parentId' | 'onParentEnd'>

export interface FlowMember {
  readonly name: string
  readonly flow: InnerFlow
}

export interface InnerFlow extends Graph, Pick<FlowRequest, 'kind' | 'tags'> {}

export interface GraphEdge extends EdgeTraits {
  readonly upstream: string
  readonly downstream: string
}

export interface EdgeTraits {
  /** A uuid, minted when left out. */
  readonly edgeId?: string
  /** Defaults to `success_only`. */
  readonly kind?: EdgeKind
  /** The name under which the downstream reads the upstream's result; defaults to the upstream's. */
  readonly dataRef?: string
}

export interface GraphGroup {
  readonly downstream: string
  readonly policy: JoinPolicyInput
}

const graphFields = ['members', 'edges', 'groups'] as const
export const innerFlowFields = ['kind', 'tags', ...graphFields] as const
export const graphRequestFields = ['flowId', 'namespace', 'creator', 'stayOpen', ...innerFlowFields] as const
