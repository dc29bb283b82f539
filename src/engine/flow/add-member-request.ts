// The request of `addMember`.
import { allOf, parseJoinPolicy, quorumOf, type JoinPolicyInput } from '../../model/edge-group.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { formatExecutionId, parseExecutionId, type ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { show } from '../../model/text.ts'
import { checkCreateRequest } from '../execution/create-request.ts'
import type { CheckedExecution } from '../transition/new-execution.ts'
import { checkMember } from './connect-request.ts'
import { checkExpectedRevision, type FlowTarget } from './edit.ts'
import { checkMemberName } from './flow-request.ts'
import { checkEdgeTraits } from './graph-edges.ts'
import { inField, tooFewEdges } from './graph-refusal.ts'
import type { EdgeTraits, MemberExecution } from './graph-request.ts'
import type { NewEdge, NewGroup } from './new-graph.ts'

export interface AddMemberRequest {
  readonly flowId: string
  /** Unique in the flow; the uuid of the execution when left out. */
  readonly name?: string
  /** A new execution, */
  readonly execution?: MemberExecution
  /** or one that exists and has no flow. */
  readonly executionId?: string
  /** The upstreams of a new one. No more edges can be added to these. */
  readonly after?: readonly InboundEdge[]
  readonly policy?: JoinPolicyInput
  /** Refused when the graph has changed since this revision. */
  readonly expectedRevision?: number
}

export interface InboundEdge extends EdgeTraits {
  readonly upstream: string
}

/** A checked request for a new or an existing execution. */
export interface Addition extends FlowTarget {
  readonly executionId: ExecutionId
  readonly executionUuid: string
  readonly name: string
  readonly expectedRevision: number | null
  readonly created: {
    readonly execution: CheckedExecution
    readonly edges: readonly NewEdge[]
    readonly group: NewGroup | null
  } | null
}

export const addMemberFields = ['flowId', 'name', 'execution', 'executionId', 'after', 'policy', 'expectedRevision']

/** `namespace` is the flow's. */
export function checkAddition(target: FlowTarget, namespace: string, request: AddMemberRequest): Addition {
  const { execution, executionId, after, policy } = request
  if ((execution === undefined) === (executionId === undefined)) {
    const found = execution === undefined ? 'neither is given' : 'both are given'
    throw new EngineError('invalid_input', `pass either execution or executionId; ${found}`)
  }
  const expectedRevision = checkExpectedRevision(request.expectedRevision)
  if (executionId !== undefined) {
    if (after !== undefined || policy !== undefined) {
      throw refusal('invalid_input', 'after', 'given', 'omitted: add the existing execution first, then connect it')
    }
    const { uuid } = checkPartition(target, executionId)
    return { ...target, ...named(request.name, executionId), executionUuid: uuid, expectedRevision, created: null }
  }
  const { actor, flowId } = target
  const fresh = inField('execution', () => checkCreateRequest({ namespace, actor }, execution!, flowId))
  const created = { execution: fresh, ...checkInbound(target, fresh.uuid, request) }
  return { ...target, ...named(request.name, fresh.executionId), executionUuid: fresh.uuid, expectedRevision, created }
}

function named(name: string | undefined, executionId: string) {
  const { partition, uuid } = parseExecutionId(executionId)
  return {
    executionId: formatExecutionId(partition, uuid),
    name: name === undefined ? uuid : checkMemberName('name', name),
  }
}

function checkPartition({ flowId, partition: wanted }: FlowTarget, executionId: string) {
  const parts = parseExecutionId(executionId)
  if (parts.partition === wanted) return parts
  throw new EngineError(
    'invalid_partition',
    `execution ${executionId} has partition ${parts.partition}, and flow ${flowId} has ${wanted}; the members of a flow must have its partition`,
    { executionId, partition: parts.partition, wanted },
  )
}

function checkInbound(target: FlowTarget, downstreamUuid: string, { after = [], policy }: AddMemberRequest) {
  if (!Array.isArray(after)) throw refusal('invalid_input', 'after', show(after), 'an array')
  if (after.length > limits.flowMemberCount) {
    throw refusal('too_many_items', 'after', `${after.length} edges`, `at most ${limits.flowMemberCount}`)
  }
  const flowUuid = target.uuid
  const upstreams = new Set<string>()
  const edges = Array.from(after as readonly InboundEdge[], (edge, index): NewEdge => {
    const field = `after[${index}]`
    refuseUnknownFields(field, edge, ['edgeId', 'upstream', 'kind', 'dataRef'])
    const upstreamUuid = checkMember(target, edge.upstream)
    if (upstreams.has(upstreamUuid)) {
      const sentence = `${field} has the same upstream as an earlier edge, ${edge.upstream}; remove one of them`
      throw new EngineError('edge_exists', sentence, { field })
    }
    upstreams.add(upstreamUuid)
    const { edgeUuid, kind, dataRef } = checkEdgeTraits(`${field}.`, edge)
    return { flowUuid, edgeUuid, upstreamUuid, downstreamUuid, kind, dataRef }
  })
  const wanted = policy === undefined ? allOf : parseJoinPolicy('policy', policy)
  const needed = quorumOf(wanted) ?? (policy === undefined ? 0 : 1)
  if (needed > edges.length) throw tooFewEdges('to be added', needed, edges.length)
  const total = edges.length
  return { edges, group: total === 0 ? null : { flowUuid, downstreamUuid, policy: wanted, total } }
}
