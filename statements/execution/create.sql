-- Made by `npm run sql`; do not edit.
-- execution.create
-- src/engine/execution/create.ts: insertExecutions
-- 73 lines, 7 CTEs
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
-- columns:
--   ordinal int8
--   existing_id uuid or null
--   existing_partition int2 or null
--   existing_namespace text or null
--   existing_request_hash bytea or null
--   public_state text

with input as materialized (
  select i.*, c.now_ms,
    coalesce(i.delay_until_ms, c.now_ms + i.delay_ms) as due_ms,
    coalesce(i.deadline_at_ms, c.now_ms + i.deadline_ms) as deadline_due_ms,
    coalesce(k.execution_id, e.execution_id) as existing_id,
    k.request_hash as existing_request_hash
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest($1::uuid[], $2::int2[], $3::text[], $4::int4[], $5::int2[], $6::text[], $7::bytea[], $8::text[],
    $9::text[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::jsonb[], $15::jsonb[], $16::text[], $17::int8[], $18::bytea[])
    with ordinality as i (execution_id, partition_key, namespace, queue_id, priority, creator, payload, payload_encoding,
      task_version, delay_ms, delay_until_ms, deadline_ms, deadline_at_ms, policy, tags, idempotency_key, idempotency_ttl_ms, request_hash,
      ordinal)
  left join flowfabric.ff_idempotency_key k
    on k.namespace = any (array[i.namespace])
    and k.scope_id = '00000000-0000-0000-0000-000000000000'
    and k.idempotency_key = any (array[i.idempotency_key])
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
fresh as materialized (
  select *, coalesce(due_ms > now_ms, false) as is_delayed,
    case when tags is null then 0 else 1024 end as attached
  from input
  where existing_id is null
),
-- from src/engine/transition/new-rows.ts: writeFreshWith
core as (
  insert into flowfabric.ff_exec_core (execution_id, partition_key, namespace, queue_id, task_version, priority, rank,
    created_at_ms, last_mutation_at_ms, delay_until_ms, deadline_at_ms, attached,
    lifecycle_phase, ownership_state, eligibility_state, attempt_state)
  select execution_id, partition_key, namespace, queue_id, task_version, priority, now_ms,
    now_ms, now_ms, case when is_delayed then due_ms end, deadline_due_ms, attached | case when policy is null then 0
      else case when policy ? 'attemptTimeoutMs' then 2048 else 0 end
        | case when policy ? 'maxSignalCount' then 4096 else 0 end end,
    'runnable', 'unowned',
    case when is_delayed then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
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
  select namespace, '00000000-0000-0000-0000-000000000000', idempotency_key, execution_id,
    now_ms + idempotency_ttl_ms, request_hash
  from fresh
  where idempotency_key is not null
)
select i.ordinal, i.existing_id, e.partition_key as existing_partition, e.namespace as existing_namespace, i.existing_request_hash,
  coalesce(e.public_state,
    case when i.due_ms > i.now_ms then 'delayed'::flowfabric.ff_public_state
      else 'waiting'::flowfabric.ff_public_state end) as public_state
from input i
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.existing_id])
where i.existing_id is not null or i.due_ms is not null
