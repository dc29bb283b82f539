// The rows that a new edge depends on: its members, the group of its downstream, and an existing edge in its place.
import { allOf, quorumOf, type GroupState, type JoinPolicy } from '../../model/edge-group.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import type { AttemptState, EligibilityState, PublicState } from '../../model/state.ts'
import { call } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { lockAlone } from '../transition/operator-set.ts'
import { notInFlow, type NewConnection } from './connect-request.ts'
import { edgesBehind } from './cycle.ts'

const readMembers = statement({
  name: 'flow.connect.read',
  params: { flow_id: 'uuid', upstream_id: 'uuid', downstream_id: 'uuid' },
  row: {
    upstream_name: 'text?',
    downstream_name: 'text?',
    is_flow: 'bool',
    eligibility_state: oneOf<EligibilityState | null>(),
    attempt_state: oneOf<AttemptState | null>(),
    public_state: oneOf<PublicState | null>(),
    group_state: oneOf<GroupState | null>(),
    is_sealed: 'bool?',
    policy: oneOf<JoinPolicy['kind'] | null>(),
    quorum: 'int4?',
    on_satisfied: oneOf<JoinPolicy['onSatisfied'] | null>(),
  },
  text: `
select u.member_name as upstream_name, d.member_name as downstream_name, d.sub_flow_id is not null as is_flow,
  e.eligibility_state, e.attempt_state, e.public_state,
  g.state as group_state, g.is_sealed, g.policy, g.quorum, g.on_satisfied
from (select $1::uuid as flow_id, $2::uuid as upstream_id, $3::uuid as downstream_id) i
left join flowfabric.ff_flow_member u on u.flow_id = any (array[i.flow_id]) and u.execution_id = any (array[i.upstream_id])
left join flowfabric.ff_flow_member d on d.flow_id = any (array[i.flow_id]) and d.execution_id = any (array[i.downstream_id])
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.downstream_id])
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[i.downstream_id])`,
})

export type ConnectRows = RowOf<typeof readMembers.row>

// By its id, or between the same members.
const findEdges = statement({
  name: 'flow.connect.find-edges',
  params: { flow_id: 'uuid', edge_id: 'uuid', upstream_id: 'uuid', downstream_id: 'uuid' },
  row: { edge_id: 'uuid', upstream_id: 'uuid', downstream_id: 'uuid', kind: 'text', data_ref: 'text?' },
  text: `
select edge_id, upstream_id, downstream_id, kind::text as kind, data_ref
from flowfabric.ff_edge
where flow_id = $1 and edge_id = $2
union
select edge_id, upstream_id, downstream_id, kind::text, data_ref
from flowfabric.ff_edge
where downstream_id = $4 and upstream_id = $3 and flow_id = $1`,
})

type FoundEdge = RowOf<typeof findEdges.row>

/** The child's lock first: a claim of it either comes before all these reads, or finds it blocked. */
export function connectionReads({ uuid: flow_id, edgeUuid, upstreamUuid, downstreamUuid }: NewConnection) {
  const pair = { flow_id, upstream_id: upstreamUuid, downstream_id: downstreamUuid }
  return [
    call(lockAlone, { execution_id: downstreamUuid }),
    call(readMembers, pair),
    call(findEdges, { ...pair, edge_id: edgeUuid }),
    call(edgesBehind, pair),
  ] as const
}

/** The edge that this call would make, if it exists; refuses another one in its place. */
export function sameEdge(connection: NewConnection, found: readonly FoundEdge[]): FoundEdge | null {
  const [edge, other] = found
  if (edge === undefined) return null
  const isSame =
    other === undefined &&
    edge.upstream_id === connection.upstreamUuid &&
    edge.downstream_id === connection.downstreamUuid &&
    edge.kind === connection.kind &&
    edge.data_ref === connection.dataRef &&
    (connection.minted || edge.edge_id === connection.edgeUuid)
  if (isSame) return edge
  const { partition, flowId } = connection
  const [upstream, downstream] = [edge.upstream_id, edge.downstream_id].map((uuid) =>
    formatExecutionId(partition, uuid),
  )
  throw new EngineError(
    'edge_exists',
    `flow ${flowId} already has an edge ${edge.edge_id} from ${upstream} to ${downstream} (${edge.kind}); use that edge, or another id`,
    { flowId, edgeId: edge.edge_id, upstream, downstream, kind: edge.kind, dataRef: edge.data_ref },
  )
}

/** Returns the policy of the downstream's group. */
export function refuseUnconnectable(connection: NewConnection, row: ConnectRows): JoinPolicy {
  const { flowId, partition } = connection
  if (row.upstream_name === null) throw notInFlow(flowId, formatExecutionId(partition, connection.upstreamUuid))
  const executionId = formatExecutionId(partition, connection.downstreamUuid)
  if (row.downstream_name === null) throw notInFlow(flowId, executionId)
  if (!mayBeBlocked(row)) {
    const state = row.group_state === 'satisfied' ? 'free to run' : row.public_state
    const sentence = `execution ${executionId} is ${state}; only an execution that has not started accepts inbound edges`
    throw new EngineError('execution_not_runnable', sentence, { executionId, publicState: row.public_state })
  }
  if (row.is_sealed === true) {
    const sentence = `the dependencies of execution ${executionId} are sealed; it accepts no more inbound edges`
    throw new EngineError('group_sealed', sentence, { executionId })
  }
  return policyOf(connection.policy, row, executionId)
}

function mayBeBlocked({
  eligibility_state: state,
  attempt_state: attempt,
  group_state: group,
  is_flow,
}: ConnectRows): boolean {
  const isFresh = attempt === 'pending_first_attempt' || attempt === 'pending_replay_attempt'
  const mayWait = state === 'eligible_now' || state === 'not_eligible_until_time' || state === 'blocked_by_dependencies'
  // A member that represents a flow stays blocked: without a group, that flow has started.
  return isFresh && mayWait && (group === 'pending' || (group === null && !is_flow))
}

function policyOf(wanted: JoinPolicy | null, row: ConnectRows, executionId: ExecutionId): JoinPolicy {
  const { policy: kind, quorum, on_satisfied: onSatisfied } = row
  if (kind === null || onSatisfied === null) return wanted ?? allOf
  const found: JoinPolicy = kind === 'quorum' ? { kind, k: quorum!, onSatisfied } : { kind, onSatisfied }
  const isSame =
    wanted === null || (wanted.kind === kind && wanted.onSatisfied === onSatisfied && quorumOf(wanted) === quorum)
  if (isSame) return found
  throw new EngineError(
    'invalid_dependency',
    `execution ${executionId} has had the policy ${kind} since its first edge; omit the policy`,
    { executionId, policy: found },
  )
}
