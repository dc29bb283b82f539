// Creates a flow without members; `addMember` and `connect` extend it, `close` ends that.
import type { FlowId } from '../../model/id.ts'
import { checkFields } from '../../model/field.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { noEffects, onlyEvents, type Written } from '../kernel/effects.ts'
import { untilSent } from '../kernel/resend.ts'
import { checkFlowRequest, flowFields, type FlowRequest } from './flow-request.ts'
import { flowIdTaken } from './graph-refusal.ts'
import type { FlowDeps } from './flow-deps.ts'

export interface FlowCreated {
  /** A duplicate has this id already, whatever its other fields. */
  readonly kind: 'created' | 'duplicate'
  readonly flowId: FlowId
  readonly graphRevision: number
}

// A row that another transaction inserted meanwhile fails the statement with 23505; it is sent again and finds it.
const insertFlow = statement({
  name: 'flow.create',
  params: {
    flow_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text',
    flow_kind: 'text',
    creator: 'text',
    actor: 'text',
    tags: 'jsonb',
  },
  row: { existing_partition: 'int2?', existing_namespace: 'text?', graph_revision: 'int8?' },
  text: `
with existing as materialized (
  select partition_key, namespace, graph_revision
  from flowfabric.ff_flow_core
  where flow_id = $1
),
flow as (
  insert into flowfabric.ff_flow_core (flow_id, root_flow_id, created_at_ms, last_mutation_at_ms, partition_key, namespace,
    flow_kind, creator_identity)
  select $1, $1, c.now_ms, c.now_ms, $2, $3, $4, $5
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where not exists (select from existing)
  returning flow_id, created_at_ms, partition_key, namespace
),
tagged as (
  insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
  select f.flow_id, f.created_at_ms, f.namespace, t.key, t.value
  from flow f
  cross join lateral jsonb_each_text($7::jsonb) t
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor, details)
  select created_at_ms, flow_id, 'flow_created', partition_key, namespace, $6,
    jsonb_build_object('graphRevision', 0, 'members', 0, 'edges', 0)
  from flow
)
select m.partition_key as existing_partition, m.namespace as existing_namespace, m.graph_revision
from (select) one
left join existing m on true`,
})

export async function createFlow(
  { sql }: FlowDeps,
  caller: Caller,
  request: FlowRequest,
): Promise<Written<FlowCreated>> {
  checkFields('create', flowFields, request)
  const { flowId, uuid, partition, namespace, kind, creator, actor, tags, minted } = checkFlowRequest(caller, request)
  const identity = { flow_id: uuid, partition_key: partition, namespace }
  const sending = { again: false }
  const [row] = await untilSent(sql, sending, () =>
    sql.query(insertFlow, { ...identity, flow_kind: kind, creator, actor, tags }),
  )
  const { graph_revision: graphRevision, existing_partition: metPartition, existing_namespace: metNamespace } = row!
  if (graphRevision === null) return { answer: { kind: 'created', flowId, graphRevision: 0 }, effects: onlyEvents }
  if (metPartition !== partition || metNamespace !== namespace) throw flowIdTaken(flowId)
  // An id that we minted and sent before exists only because that send was committed and its reply lost.
  const isOurs = sending.again && minted
  return { answer: { kind: isOurs ? 'created' : 'duplicate', flowId, graphRevision }, effects: noEffects }
}
