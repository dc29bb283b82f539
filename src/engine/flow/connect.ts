// Adds an edge into a waiting member, which is blocked in the same transaction. A member that has started, or whose
// group has fired, accepts no more edges. An upstream that has ended already gets a dispatch row, as if it had ended
// now.
import { quorumOf } from '../../model/edge-group.ts'
import type { FlowId } from '../../model/id.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Written } from '../kernel/effects.ts'
import { connectionReads, refuseUnconnectable, sameEdge } from './connect-read.ts'
import { checkConnectRequest, type ConnectRequest } from './connect-request.ts'
import { pathOf } from './cycle.ts'
import { editFlow, refuseNoLongerOpen, refuseStale } from './edit.ts'
import { cycleDetected, refuseTooLarge } from './graph-refusal.ts'
import type { FlowDeps } from './flow-deps.ts'
import { oweDispatch, owedAnswer, owedRow } from './owe-dispatch.ts'

export interface Connected {
  readonly kind: 'connected' | 'already_connected'
  readonly flowId: FlowId
  readonly edgeId: string
  readonly graphRevision: number
}

// Under the locks of the flow and of the child. A delay of the child that outlasts the block is stored with its input.
const connectMembers = statement({
  name: 'flow.connect',
  params: {
    flow_id: 'uuid',
    edge_id: 'uuid',
    upstream_id: 'uuid',
    downstream_id: 'uuid',
    edge_kind: 'text',
    data_ref: 'text?',
    actor: 'text',
    join_policy: 'text',
    join_on_satisfied: 'text',
    join_quorum: 'int4?',
  },
  row: owedRow,
  text: `
with changed as (
  update flowfabric.ff_flow_core f
  set graph_revision = f.graph_revision + 1,
    edge_count = f.edge_count + 1,
    last_mutation_at_ms = greatest(c.now_ms, f.last_mutation_at_ms)
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
  returning f.flow_id, f.graph_revision, f.partition_key, f.namespace, f.last_mutation_at_ms as now_ms
),
edged as (
  insert into flowfabric.ff_edge (flow_id, edge_id, upstream_id, downstream_id, created_at_ms, kind, created_by, data_ref)
  select flow_id, $2, $3, $4, now_ms, $5::text::flowfabric.ff_edge_kind, $7, $6
  from changed
),
grouped as (
  insert into flowfabric.ff_edge_group as g (downstream_id, flow_id, quorum, total, policy, on_satisfied, is_sealed)
  select $4, flow_id, $10, 1, $8::text::flowfabric.ff_join_policy, $9::text::flowfabric.ff_on_satisfied, false
  from changed
  on conflict (downstream_id) do update set total = g.total + 1
),
child as materialized (
  select e.execution_id, e.queue_id, e.priority, e.rank, e.eligibility_state = 'eligible_now' as was_ready, c.now_ms
  from changed c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[$4::uuid])
  where e.eligibility_state in ('eligible_now', 'not_eligible_until_time')
),
blocked as (
  update flowfabric.ff_exec_core e
  set eligibility_state = 'blocked_by_dependencies',
    delay_until_ms = null,
    parked_at_ms = d.now_ms,
    parked_state = 'waiting_children',
    last_mutation_at_ms = greatest(d.now_ms, e.last_mutation_at_ms)
  from child d
  where e.execution_id = any (array[d.execution_id])
),
unready as (
  delete from flowfabric.ff_ready r
  using child d
  where d.was_ready
    and r.queue_id = any (array[d.queue_id]) and r.neg_priority = -d.priority and r.rank = d.rank and r.execution_id = d.execution_id
),
${oweDispatch('changed', 'array[$3::uuid]')},
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select now_ms, flow_id, $4, 'flow_changed', partition_key, namespace, $7,
    jsonb_build_object('graphRevision', graph_revision, 'change', 'edge_added', 'edgeId', $2::uuid)
  from changed
)
${owedAnswer}`,
})

export async function connect(deps: FlowDeps, caller: Caller, request: ConnectRequest): Promise<Written<Connected>> {
  const connection = checkConnectRequest(caller, request)
  const { flowId, uuid: flow_id, edgeUuid, upstreamUuid, downstreamUuid } = connection
  const pair = { flow_id, upstream_id: upstreamUuid, downstream_id: downstreamUuid }
  return editFlow<ReturnType<typeof connectionReads>, Connected>(
    deps,
    connection,
    connectionReads(connection),
    (flow, [, [row], found, behind], again) => {
      const edge = sameEdge(connection, found)
      if (edge !== null) {
        const isOwn = again && connection.minted && edge.edge_id === edgeUuid
        const kind = isOwn ? 'connected' : 'already_connected'
        return {
          answer: { kind, flowId, edgeId: edge.edge_id, graphRevision: flow.graph_revision },
          writes: [],
        }
      }
      refuseNoLongerOpen(flowId, flow)
      refuseStale(flowId, flow, connection.expectedRevision)
      const policy = refuseUnconnectable(connection, row!)
      refuseTooLarge(flowId, flow.member_count, flow.edge_count + 1)
      if (behind.length > 0) throw cycleDetected(pathOf(behind, pair, row!.upstream_name!))
      const { kind: edge_kind, dataRef: data_ref, actor } = connection
      const rule = {
        join_policy: policy.kind,
        join_on_satisfied: policy.onSatisfied,
        join_quorum: quorumOf(policy),
      }
      return {
        answer: { kind: 'connected', flowId, edgeId: edgeUuid, graphRevision: flow.graph_revision + 1 },
        writes: [call(connectMembers, { ...pair, edge_id: edgeUuid, edge_kind, data_ref, actor, ...rule })],
      }
    },
  )
}
