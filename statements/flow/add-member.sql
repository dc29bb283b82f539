-- Made by `npm run sql`; do not edit.
-- flow.add-member
-- src/engine/flow/add-member.ts: createMember
-- 115 lines, 13 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 actor text
--   $3 execution_ids uuid[]
--   $4 member_flow_ids uuid[]
--   $5 sub_flow_ids uuid[] with nulls
--   $6 member_names text[]
--   $7 are_held bool[]
--   $8 queue_ids int4[]
--   $9 priorities int2[]
--   $10 creators text[]
--   $11 payloads bytea[] with nulls
--   $12 payload_encodings text[] with nulls
--   $13 task_versions text[] with nulls
--   $14 delays_ms int8[] with nulls
--   $15 delays_until_ms int8[] with nulls
--   $16 deadlines_ms int8[] with nulls
--   $17 deadlines_at_ms int8[] with nulls
--   $18 policies jsonb[] with nulls
--   $19 member_tags jsonb[] with nulls
--   $20 idempotency_keys text[] with nulls
--   $21 idempotency_ttls_ms int8[] with nulls
--   $22 key_hashes bytea[] with nulls
--   $23 edge_flow_ids uuid[]
--   $24 edge_ids uuid[]
--   $25 upstream_ids uuid[]
--   $26 downstream_ids uuid[]
--   $27 edge_kinds text[]
--   $28 data_refs text[] with nulls
--   $29 group_flow_ids uuid[]
--   $30 group_member_ids uuid[]
--   $31 join_policies text[]
--   $32 on_satisfied text[]
--   $33 quorums int4[] with nulls
--   $34 totals int4[]
-- columns:
--   owes bool

with
changed as (
  update flowfabric.ff_flow_core f
  set graph_revision = f.graph_revision + 1,
    member_count = f.member_count + 1,
    edge_count = f.edge_count + cardinality($24::uuid[]),
    last_mutation_at_ms = greatest(c.now_ms, f.last_mutation_at_ms)
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
  returning f.flow_id, f.graph_revision, f.partition_key, f.namespace, f.last_mutation_at_ms as now_ms, $2::text as actor
),
accepted as materialized (
  select now_ms, partition_key, namespace, actor
  from changed
),
-- from src/engine/flow/member-rows.ts: writeMembers
fresh as materialized (
  select i.*, a.now_ms, a.partition_key, a.namespace, t.due_ms, t.is_blocked,
    not t.is_blocked and coalesce(t.due_ms > a.now_ms, false) as is_delayed,
    -- The flow that it represents starts with it.
    i.sub_flow_id is not null and not i.is_held as is_started,
    coalesce(i.deadline_at_ms, a.now_ms + i.deadline_ms) as deadline_due_ms
  from accepted a
  cross join unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::bool[],
    $8::int4[], $9::int2[], $10::text[], $11::bytea[], $12::text[], $13::text[],
    $14::int8[], $15::int8[], $16::int8[], $17::int8[], $18::jsonb[], $19::jsonb[],
    $20::text[], $21::int8[], $22::bytea[])
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
  cross join unnest($23::uuid[], $24::uuid[], $25::uuid[], $26::uuid[], $27::text[], $28::text[])
    as i (flow_id, edge_id, upstream_id, downstream_id, kind, data_ref)
),
grouped as (
  insert into flowfabric.ff_edge_group (downstream_id, flow_id, quorum, total, policy, on_satisfied, is_sealed)
  select i.downstream_id, i.flow_id, i.quorum, i.total, i.policy::flowfabric.ff_join_policy,
    i.on_satisfied::flowfabric.ff_on_satisfied, true
  from accepted a
  cross join unnest($29::uuid[], $30::uuid[], $31::text[], $32::text[], $33::int4[], $34::int4[])
    as i (flow_id, downstream_id, policy, on_satisfied, quorum, total)
),
-- end of writeMembers
-- from src/engine/flow/owe-dispatch.ts: owing
owed as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, c.flow_id, c.now_ms, e.terminal_outcome, true
  from changed c
  cross join unnest($25::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  where e.lifecycle_phase = 'terminal'
  on conflict (execution_id, generation, outcome) do update set flow_id = excluded.flow_id
  returning execution_id
),
-- end of owing
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select now_ms, flow_id, ($3::uuid[])[1], 'flow_changed', partition_key, namespace, actor,
    jsonb_build_object('graphRevision', graph_revision, 'change', 'member_added')
  from changed
)
select exists (select from owed) as owes
