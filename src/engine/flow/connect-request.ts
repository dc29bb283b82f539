// The request of `connect`.
import { parseJoinPolicy, type JoinPolicy, type JoinPolicyInput } from '../../model/edge-group.ts'
import { EngineError } from '../../model/errors.ts'
import { parseExecutionId, type FlowId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Caller } from '../kernel/caller.ts'
import { checkExpectedRevision, checkFlowTarget, type FlowTarget } from './edit.ts'
import { checkEdgeTraits, type CheckedTraits } from './graph-edges.ts'
import { selfEdge } from './graph-refusal.ts'
import type { EdgeTraits } from './graph-request.ts'

export interface ConnectRequest extends EdgeTraits {
  readonly flowId: string
  readonly upstream: string
  readonly downstream: string
  /** Over all inbound edges of the downstream; set with the first of them, or the same again. */
  readonly policy?: JoinPolicyInput
  /** Refused when the graph has changed since this revision. */
  readonly expectedRevision?: number
}

export interface NewConnection extends FlowTarget, CheckedTraits {
  readonly upstreamUuid: string
  readonly downstreamUuid: string
  readonly policy: JoinPolicy | null
  readonly expectedRevision: number | null
}

const fields = ['flowId', 'upstream', 'downstream', 'policy', 'expectedRevision', 'edgeId', 'kind', 'dataRef']

export function checkConnectRequest(caller: Caller, request: ConnectRequest): NewConnection {
  refuseUnknownFields('connect', request, fields)
  const target = checkFlowTarget(caller, request.flowId)
  const upstreamUuid = checkMember(target, request.upstream)
  const downstreamUuid = checkMember(target, request.downstream)
  if (upstreamUuid === downstreamUuid) throw selfEdge('the edge', request.upstream)
  return {
    ...target,
    ...checkEdgeTraits('', request),
    upstreamUuid,
    downstreamUuid,
    policy: request.policy === undefined ? null : parseJoinPolicy('policy', request.policy),
    expectedRevision: checkExpectedRevision(request.expectedRevision),
  }
}

/** Its uuid. A member has its flow's partition, so an id with another one is no member. */
export function checkMember({ flowId, partition: wanted }: FlowTarget, executionId: string): string {
  const { partition, uuid } = parseExecutionId(executionId)
  if (partition !== wanted) throw notInFlow(flowId, executionId)
  return uuid
}

export function notInFlow(flowId: FlowId, executionId: string): EngineError {
  const sentence = `execution ${executionId} is not a member of flow ${flowId}; add it first`
  return new EngineError('execution_not_in_flow', sentence, { flowId, executionId })
}
