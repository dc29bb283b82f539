// The rows of new members and of the edges between them.
import { attached } from '../../model/attached.ts'
import { quorumOf } from '../../model/edge-group.ts'
import { attachedByPolicy } from '../transition/new-rows.ts'
import type { Effects } from '../kernel/effects.ts'
import { resolveWith } from '../task/resolve.ts'
import type { FlowDeps } from './flow-deps.ts'
import type { NewEdge, NewGroup, NewMember } from './new-graph.ts'

export const memberParams = {
  execution_ids: 'uuid[]',
  member_flow_ids: 'uuid[]',
  sub_flow_ids: 'uuid?[]',
  member_names: 'text[]',
  are_held: 'bool[]',
  queue_ids: 'int4[]',
  priorities: 'int2[]',
  creators: 'text[]',
  payloads: 'bytea?[]',
  payload_encodings: 'text?[]',
  task_versions: 'text?[]',
  delays_ms: 'int8?[]',
  delays_until_ms: 'int8?[]',
  deadlines_ms: 'int8?[]',
  deadlines_at_ms: 'int8?[]',
  policies: 'jsonb?[]',
  member_tags: 'jsonb?[]',
  idempotency_keys: 'text?[]',
  idempotency_ttls_ms: 'int8?[]',
  key_hashes: 'bytea?[]',
} as const

export const edgeParams = {
  edge_flow_ids: 'uuid[]',
  edge_ids: 'uuid[]',
  upstream_ids: 'uuid[]',
  downstream_ids: 'uuid[]',
  edge_kinds: 'text[]',
  data_refs: 'text?[]',
  group_flow_ids: 'uuid[]',
  group_member_ids: 'uuid[]',
  join_policies: 'text[]',
  on_satisfied: 'text[]',
  quorums: 'int4?[]',
  totals: 'int4[]',
} as const

/**
 * Follows a CTE `accepted` of one row or none: now_ms, partition_key, namespace, actor. `from` is the number of the first
 * of `memberParams`, which `edgeParams` follow. Writes the members with all their rows, blocked or claimable; their
 * edges, unresolved; and their groups, sealed.
 */
export function writeMembers(from: number): string {
  const at = (offset: number, type: string) => `$${from + offset}::${type}[]`
  return `
fresh as materialized (
  select i.*, a.now_ms, a.partition_key, a.namespace, t.due_ms, t.is_blocked,
    not t.is_blocked and coalesce(t.due_ms > a.now_ms, false) as is_delayed,
    -- The flow that it represents starts with it.
    i.sub_flow_id is not null and not i.is_held as is_started,
    coalesce(i.deadline_at_ms, a.now_ms + i.deadline_ms) as deadline_due_ms
  from accepted a
  cross join unnest(${at(0, 'uuid')}, ${at(1, 'uuid')}, ${at(2, 'uuid')}, ${at(3, 'text')}, ${at(4, 'bool')},
      ${at(5, 'int4')}, ${at(6, 'int2')}, ${at(7, 'text')}, ${at(8, 'bytea')}, ${at(9, 'text')}, ${at(10, 'text')},
      ${at(11, 'int8')}, ${at(12, 'int8')}, ${at(13, 'int8')}, ${at(14, 'int8')}, ${at(15, 'jsonb')}, ${at(16, 'jsonb')},
      ${at(17, 'text')}, ${at(18, 'int8')}, ${at(19, 'bytea')})
    as i (execution_id, flow_id, sub_flow_id, member_name, is_held, queue_id, priority, creator, payload,
      payload_encoding, task_version, delay_ms, delay_until_ms, deadline_ms, deadline_at_ms, policy, tags,
      idempotency_key, idempotency_ttl_ms, key_hash)
  cross join lateral (
    select coalesce(i.delay_until_ms, a.now_ms + i.delay_ms) as due_ms, i.is_held or i.sub_flow_id is not null as is_blocked
  ) t
),
core as (
  insert into flowfabric.ff_exec_core (execution_id, partition_key, namespace, queue_id, task_version, priority, rank,
    created_at_ms, last_mutation_at_ms, delay_until_ms, deadline_at_ms, parked_at_ms, parked_state, started_at_ms, flow_id, attached,
    lifecycle_phase, ownership_state, eligibility_state, attempt_state)
  select execution_id, partition_key, namespace, queue_id, task_version, priority, now_ms,
    now_ms, now_ms, case when is_delayed then due_ms end, deadline_due_ms,
    case when is_blocked then now_ms end, case when is_blocked then 'waiting_children'::flowfabric.ff_public_state end,
    case when is_started then now_ms end, flow_id,
    ${attached.flow} | case when sub_flow_id is null then 0 else ${attached.subFlow} end
      | case when tags is null then 0 else ${attached.tags} end | ${attachedByPolicy},
    'runnable', 'unowned',
    case when is_blocked then 'blocked_by_dependencies'::flowfabric.ff_eligibility_state
      when is_delayed then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    'pending_first_attempt'
  from fresh
),
cold as (
  insert into flowfabric.ff_exec_input (partition_key, execution_id, created_at_ms, delay_until_ms, deadline_at_ms,
    deadline_after_ms, queue_id, creator_identity, idempotency_key, payload, payload_encoding, policy)
  select partition_key, execution_id, now_ms, due_ms, deadline_at_ms, deadline_ms,
    queue_id, creator, idempotency_key, payload, payload_encoding, policy
  from fresh
),
ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, now_ms, execution_id
  from fresh
  where not is_blocked and not is_delayed
),
tagged as (
  insert into flowfabric.ff_exec_tag (execution_id, created_at_ms, namespace, tag_key, tag_value)
  select f.execution_id, f.now_ms, f.namespace, t.key, t.value
  from fresh f
  cross join lateral jsonb_each_text(f.tags) t
  where f.tags is not null
),
keyed as (
  insert into flowfabric.ff_idempotency_key
    (namespace, scope_id, idempotency_key, execution_id, expires_at_ms, request_hash)
  select namespace, flow_id, idempotency_key, execution_id, now_ms + idempotency_ttl_ms, key_hash
  from fresh
  where idempotency_key is not null
),
joined as (
  insert into flowfabric.ff_flow_member (flow_id, execution_id, sub_flow_id, member_name)
  select flow_id, execution_id, sub_flow_id, member_name
  from fresh
),
edged as (
  insert into flowfabric.ff_edge (flow_id, edge_id, upstream_id, downstream_id, created_at_ms, kind, created_by, data_ref)
  select i.flow_id, i.edge_id, i.upstream_id, i.downstream_id, a.now_ms, i.kind::flowfabric.ff_edge_kind, a.actor, i.data_ref
  from accepted a
  cross join unnest(${at(20, 'uuid')}, ${at(21, 'uuid')}, ${at(22, 'uuid')}, ${at(23, 'uuid')}, ${at(24, 'text')}, ${at(25, 'text')})
    as i (flow_id, edge_id, upstream_id, downstream_id, kind, data_ref)
),
grouped as (
  insert into flowfabric.ff_edge_group (downstream_id, flow_id, quorum, total, policy, on_satisfied, is_sealed)
  select i.downstream_id, i.flow_id, i.quorum, i.total, i.policy::flowfabric.ff_join_policy,
    i.on_satisfied::flowfabric.ff_on_satisfied, true
  from accepted a
  cross join unnest(${at(26, 'uuid')}, ${at(27, 'uuid')}, ${at(28, 'text')}, ${at(29, 'text')}, ${at(30, 'int4')}, ${at(31, 'int4')})
    as i (flow_id, downstream_id, policy, on_satisfied, quorum, total)
)`
}

export async function memberColumnsOf(
  members: readonly NewMember[],
  { queues, tasks }: Pick<FlowDeps, 'queues' | 'tasks'>,
) {
  // A member that represents a flow runs no task, whatever the kind of the flow is.
  const executions = await Promise.all(
    members.map(async ({ execution, subFlow }) =>
      subFlow === null ? tasks.resolve(execution) : resolveWith(execution, null),
    ),
  )
  return {
    execution_ids: executions.map((item) => item.uuid),
    member_flow_ids: members.map((member) => member.flowUuid),
    sub_flow_ids: members.map((member) => member.subFlow?.uuid ?? null),
    member_names: members.map((member) => member.name),
    are_held: members.map((member) => member.isHeld),
    queue_ids: await queues.idsOf(executions.map((item) => item.queue)),
    priorities: executions.map((item) => item.priority),
    creators: executions.map((item) => item.creator),
    payloads: sparse(executions.map((item) => item.payload)),
    payload_encodings: sparse(executions.map((item) => item.payloadEncoding)),
    task_versions: sparse(executions.map((item) => item.queue.version)),
    delays_ms: sparse(executions.map((item) => item.delayMs)),
    delays_until_ms: sparse(executions.map((item) => item.delayUntil)),
    deadlines_ms: sparse(executions.map((item) => item.deadlineMs)),
    deadlines_at_ms: sparse(executions.map((item) => item.deadlineAt)),
    policies: sparse(executions.map((item) => item.policy)),
    member_tags: sparse(executions.map((item) => item.tags)),
    idempotency_keys: sparse(executions.map((item) => item.idempotencyKey)),
    idempotency_ttls_ms: sparse(executions.map((item) => item.idempotencyTtlMs)),
    key_hashes: sparse(executions.map((item) => item.requestHash)),
  }
}

export function edgeColumnsOf(edges: readonly NewEdge[], groups: readonly NewGroup[]) {
  return {
    edge_flow_ids: edges.map((edge) => edge.flowUuid),
    edge_ids: edges.map((edge) => edge.edgeUuid),
    upstream_ids: edges.map((edge) => edge.upstreamUuid),
    downstream_ids: edges.map((edge) => edge.downstreamUuid),
    edge_kinds: edges.map((edge) => edge.kind),
    data_refs: sparse(edges.map((edge) => edge.dataRef)),
    group_flow_ids: groups.map((group) => group.flowUuid),
    group_member_ids: groups.map((group) => group.downstreamUuid),
    join_policies: groups.map((group) => group.policy.kind),
    on_satisfied: groups.map((group) => group.policy.onSatisfied),
    quorums: sparse(groups.map((group) => quorumOf(group.policy))),
    totals: groups.map((group) => group.total),
  }
}

// `unnest` fills a shorter array up with nulls, and most graphs use few of these columns.
function sparse<T>(column: readonly (T | null)[]): readonly (T | null)[] {
  return column.some((value) => value !== null) ? column : []
}

/** The effects of new members: the ones that can be claimed now or soon. */
export function readyMembers(members: readonly NewMember[], queueIds: readonly number[]): Effects {
  const ready = new Set<number>()
  let soonest = Infinity
  members.forEach(({ execution, isHeld, subFlow }, index) => {
    if (isHeld || subFlow !== null) return
    if (execution.delayMs !== null) soonest = Math.min(soonest, execution.delayMs)
    else if (execution.delayUntil === null) ready.add(queueIds[index]!)
  })
  return { readyQueueIds: [...ready], dueInMs: soonest < Infinity ? { delay: soonest } : {}, wroteEvents: true }
}
