-- Made by `npm run sql`; do not edit.
-- flow.submit-graph
-- src/engine/flow/submit-graph.ts: insertGraph
-- 129 lines, 15 CTEs
--
-- parameters:
--   $1 root_flow_id uuid
--   $2 partition_key int2
--   $3 namespace text
--   $4 actor text
--   $5 creator text
--   $6 request_hash bytea
--   $7 is_closed bool
--   $8 given_ids uuid[]
--   $9 flow_ids uuid[]
--   $10 flow_member_ids uuid[] with nulls
--   $11 flow_kinds text[]
--   $12 flow_tags jsonb[] with nulls
--   $13 member_counts int4[]
--   $14 edge_counts int4[]
--   $15 flow_are_held bool[]
--   $16 execution_ids uuid[]
--   $17 member_flow_ids uuid[]
--   $18 sub_flow_ids uuid[] with nulls
--   $19 member_names text[]
--   $20 are_held bool[]
--   $21 queue_ids int4[]
--   $22 priorities int2[]
--   $23 creators text[]
--   $24 payloads bytea[] with nulls
--   $25 payload_encodings text[] with nulls
--   $26 task_versions text[] with nulls
--   $27 delays_ms int8[] with nulls
--   $28 delays_until_ms int8[] with nulls
--   $29 deadlines_ms int8[] with nulls
--   $30 deadlines_at_ms int8[] with nulls
--   $31 policies jsonb[] with nulls
--   $32 member_tags jsonb[] with nulls
--   $33 idempotency_keys text[] with nulls
--   $34 idempotency_ttls_ms int8[] with nulls
--   $35 key_hashes bytea[] with nulls
--   $36 edge_flow_ids uuid[]
--   $37 edge_ids uuid[]
--   $38 upstream_ids uuid[]
--   $39 downstream_ids uuid[]
--   $40 edge_kinds text[]
--   $41 data_refs text[] with nulls
--   $42 group_flow_ids uuid[]
--   $43 group_member_ids uuid[]
--   $44 join_policies text[]
--   $45 on_satisfied text[]
--   $46 quorums int4[] with nulls
--   $47 totals int4[]
-- columns:
--   graph_revision int8 or null
--   existing_partition int2 or null
--   existing_namespace text or null
--   existing_request_hash bytea or null
--   taken_id uuid or null

with existing as materialized (
  select partition_key, namespace, request_hash, graph_revision
  from flowfabric.ff_flow_core
  where flow_id = $1
),
-- If the flow exists, the given ids are its own.
taken as materialized (
  select e.execution_id
  from unnest($8::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  where not exists (select from existing)
  limit 1
),
accepted as materialized (
  select c.now_ms, $2::int2 as partition_key, $3::text as namespace, $4::text as actor
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where not exists (select from existing) and not exists (select from taken)
),
flow as (
  -- An inner flow is closed, whatever the outermost one is.
  insert into flowfabric.ff_flow_core (flow_id, root_flow_id, member_id, created_at_ms, last_mutation_at_ms, closed_at_ms,
    graph_revision, member_count, edge_count, is_held, partition_key, namespace, flow_kind, creator_identity, request_hash)
  select i.flow_id, $1, i.member_id, a.now_ms, a.now_ms, case when $7 or i.member_id is not null then a.now_ms end,
    1, i.member_count, i.edge_count, i.is_held, a.partition_key, a.namespace, i.flow_kind, $5,
    case when i.member_id is null then $6::bytea end
  from accepted a
  cross join unnest($9::uuid[], $10::uuid[], $11::text[], $13::int4[], $14::int4[], $15::bool[])
    as i (flow_id, member_id, flow_kind, member_count, edge_count, is_held)
  returning flow_id, member_id, created_at_ms, partition_key, namespace, member_count, edge_count
),
flow_tagged as (
  insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
  select i.flow_id, a.now_ms, a.namespace, t.key, t.value
  from accepted a
  cross join unnest($9::uuid[], $12::jsonb[]) as i (flow_id, tags)
  cross join lateral jsonb_each_text(i.tags) t
  where i.tags is not null
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select created_at_ms, flow_id, member_id, 'flow_created', partition_key, namespace, $4,
    jsonb_build_object('graphRevision', 1, 'members', member_count, 'edges', edge_count)
  from flow
),
-- from src/engine/flow/member-rows.ts: writeMembers
fresh as materialized (
  select i.*, a.now_ms, a.partition_key, a.namespace, t.due_ms, t.is_blocked,
    not t.is_blocked and coalesce(t.due_ms > a.now_ms, false) as is_delayed,
    -- The flow that it represents starts with it.
    i.sub_flow_id is not null and not i.is_held as is_started,
    coalesce(i.deadline_at_ms, a.now_ms + i.deadline_ms) as deadline_due_ms
  from accepted a
  cross join unnest($16::uuid[], $17::uuid[], $18::uuid[], $19::text[], $20::bool[],
    $21::int4[], $22::int2[], $23::text[], $24::bytea[], $25::text[], $26::text[],
    $27::int8[], $28::int8[], $29::int8[], $30::int8[], $31::jsonb[], $32::jsonb[],
    $33::text[], $34::int8[], $35::bytea[])
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
    16 | case when sub_flow_id is null then 0 else 512 end
    -- from src/engine/transition/new-rows.ts: attachedByPolicy
    | case when tags is null then 0 else 1024 end | case when policy is null then 0
      else case when policy ? 'attemptTimeoutMs' then 2048 else 0 end
        | case when policy ? 'maxSignalCount' then 4096 else 0 end end,
    -- end of attachedByPolicy
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
  cross join unnest($36::uuid[], $37::uuid[], $38::uuid[], $39::uuid[], $40::text[], $41::text[])
    as i (flow_id, edge_id, upstream_id, downstream_id, kind, data_ref)
),
grouped as (
  insert into flowfabric.ff_edge_group (downstream_id, flow_id, quorum, total, policy, on_satisfied, is_sealed)
  select i.downstream_id, i.flow_id, i.quorum, i.total, i.policy::flowfabric.ff_join_policy,
    i.on_satisfied::flowfabric.ff_on_satisfied, true
  from accepted a
  cross join unnest($42::uuid[], $43::uuid[], $44::text[], $45::text[], $46::int4[], $47::int4[])
    as i (flow_id, downstream_id, policy, on_satisfied, quorum, total)
)
-- end of writeMembers
select m.graph_revision, m.partition_key as existing_partition, m.namespace as existing_namespace,
  m.request_hash as existing_request_hash, (select execution_id from taken) as taken_id
from (select) one
left join existing m on true
