-- Made by `npm run sql`; do not edit.
-- execution.create-child
-- src/engine/execution/create-child.ts: insertChildren
-- 102 lines, 9 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[]
--   $4 queue_ids int4[]
--   $5 priorities int2[]
--   $6 creators text[]
--   $7 payloads bytea[] with nulls
--   $8 payload_encodings text[] with nulls
--   $9 task_versions text[] with nulls
--   $10 delays_ms int8[] with nulls
--   $11 delays_until_ms int8[] with nulls
--   $12 deadlines_ms int8[] with nulls
--   $13 deadlines_at_ms int8[] with nulls
--   $14 policies jsonb[] with nulls
--   $15 tags jsonb[] with nulls
--   $16 idempotency_keys text[] with nulls
--   $17 idempotency_ttls_ms int8[] with nulls
--   $18 request_hashes bytea[] with nulls
--   $19 parent_ids uuid[]
--   $20 on_parent_ends text[]
-- columns:
--   ordinal int8
--   existing_id uuid or null
--   existing_partition int2 or null
--   existing_namespace text or null
--   existing_request_hash bytea or null
--   public_state text
--   parent_state text
--   parent_depth int4
--   is_sub_flow bool or null
--   is_locked bool

with input as materialized (
  select i.*, c.now_ms,
    coalesce(i.delay_until_ms, c.now_ms + i.delay_ms) as due_ms,
    coalesce(i.deadline_at_ms, c.now_ms + i.deadline_ms) as deadline_due_ms,
    coalesce(k.execution_id, e.execution_id) as existing_id,
    k.request_hash as existing_request_hash
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest($1::uuid[], $2::int2[], $3::text[], $4::int4[], $5::int2[], $6::text[], $7::bytea[], $8::text[],
    $9::text[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::jsonb[], $15::jsonb[], $16::text[], $17::int8[], $18::bytea[],
    $19::uuid[], $20::text[])
    with ordinality as i (execution_id, partition_key, namespace, queue_id, priority, creator, payload, payload_encoding,
      task_version, delay_ms, delay_until_ms, deadline_ms, deadline_at_ms, policy, tags, idempotency_key, idempotency_ttl_ms, request_hash,
      parent_id,
      parent_end, ordinal)
  left join flowfabric.ff_idempotency_key k
    on k.namespace = any (array[i.namespace])
    and k.scope_id = any (array[i.parent_id])
    and k.idempotency_key = any (array[i.idempotency_key])
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
born as materialized (
  select i.*, p.lifecycle_phase as parent_phase, p.attached as parent_attached,
    coalesce(n.child_depth, 0) + 1 as child_depth
  from input i
  join flowfabric.ff_exec_core seen
    on seen.execution_id = any (array[i.parent_id])
    and seen.partition_key = i.partition_key
    and seen.namespace = i.namespace
  join flowfabric.ff_exec_core p on p.execution_id = any (array[i.parent_id]) and p.xmin = seen.xmin
  join flowfabric.ff_exec_input n
    on n.partition_key = any (array[i.partition_key]) and n.execution_id = any (array[i.parent_id])
  where i.existing_id is null
  order by i.parent_id
  for no key update of p skip locked
),
fresh as materialized (
  select b.*, coalesce(b.due_ms > b.now_ms, false) as is_delayed, 32 | case when b.tags is null then 0 else 1024 end as attached,
    b.parent_end::flowfabric.ff_on_parent_end as on_parent_end
  from born b
  where b.parent_phase <> 'terminal' and b.child_depth <= 32
    and b.parent_attached & 512 /* subFlow */ = 0
),
parents as (
  update flowfabric.ff_exec_core p
  set attached = p.attached | 64 /* children */
  from (select distinct parent_id from fresh where parent_attached & 64 /* children */ = 0) f
  where p.execution_id = any (array[f.parent_id])
),
-- from src/engine/transition/new-rows.ts: writeFreshWith
core as (
  insert into flowfabric.ff_exec_core (execution_id, partition_key, namespace, queue_id, task_version, priority, rank,
    created_at_ms, last_mutation_at_ms, delay_until_ms, deadline_at_ms, attached,
    lifecycle_phase, ownership_state, eligibility_state, attempt_state, parent_id, on_parent_end)
  select execution_id, partition_key, namespace, queue_id, task_version, priority, now_ms,
    now_ms, now_ms, case when is_delayed then due_ms end, deadline_due_ms, attached | case when policy is null then 0
      else case when policy ? 'attemptTimeoutMs' then 2048 else 0 end
        | case when policy ? 'maxSignalCount' then 4096 else 0 end end,
    'runnable', 'unowned',
    case when is_delayed then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    'pending_first_attempt', parent_id, on_parent_end
  from fresh
),
cold as (
  insert into flowfabric.ff_exec_input (partition_key, execution_id, created_at_ms, delay_until_ms, deadline_at_ms,
    deadline_after_ms, queue_id, creator_identity, idempotency_key, payload, payload_encoding, policy, parent_id, child_depth)
  select partition_key, execution_id, now_ms, due_ms, deadline_at_ms, deadline_ms,
    queue_id, creator, idempotency_key, payload, payload_encoding, policy, parent_id, child_depth
  from fresh
),
ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, now_ms, execution_id
  from fresh
  where not is_delayed
),
-- end of writeFreshWith
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
  select namespace, parent_id, idempotency_key, execution_id, now_ms + idempotency_ttl_ms, request_hash
  from fresh
  where idempotency_key is not null
)
select i.ordinal, i.existing_id, e.partition_key as existing_partition, e.namespace as existing_namespace, i.existing_request_hash,
  coalesce(e.public_state,
    case when i.due_ms > i.now_ms then 'delayed'::flowfabric.ff_public_state
      else 'waiting'::flowfabric.ff_public_state end) as public_state,
  p.public_state as parent_state, coalesce(n.child_depth, 0)::int4 as parent_depth,
  p.attached & 512 /* subFlow */ <> 0 as is_sub_flow,
  i.ordinal in (select ordinal from born) as is_locked
from input i
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.existing_id])
left join flowfabric.ff_exec_core p
  on p.execution_id = any (array[i.parent_id]) and p.partition_key = i.partition_key and p.namespace = i.namespace
left join flowfabric.ff_exec_input n
  on n.partition_key = any (array[i.partition_key]) and n.execution_id = any (array[i.parent_id])
