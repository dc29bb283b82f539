-- Made by `npm run sql`; do not edit.
-- execution.create-new
-- src/engine/transition/new-rows.ts: insertNew
-- 43 lines, 4 CTEs
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
--   $15 channel text or null
--   $16 hint text or null
-- columns:
--   ordinal int8
--   is_delayed bool

with fresh as materialized (
  select i.*, c.now_ms, null::text as idempotency_key, t.due_ms, coalesce(t.due_ms > c.now_ms, false) as is_delayed,
    coalesce(i.deadline_at_ms, c.now_ms + i.deadline_ms) as deadline_due_ms, 0 as attached
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest($1::uuid[], $2::int2[], $3::text[], $4::int4[], $5::int2[], $6::text[], $7::bytea[], $8::text[],
    $9::text[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::jsonb[])
    with ordinality as i (execution_id, partition_key, namespace, queue_id, priority, creator, payload, payload_encoding,
      task_version, delay_ms, delay_until_ms, deadline_ms, deadline_at_ms, policy, ordinal)
  cross join lateral (select coalesce(i.delay_until_ms, c.now_ms + i.delay_ms) as due_ms) t
),
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
)
select ordinal, is_delayed
from fresh
where due_ms is not null
union all
select 0, pg_notify($15, $16) is null
where $15::text is not null
