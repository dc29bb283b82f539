-- Made by `npm run sql`; do not edit.
-- duty.set-aside
-- src/engine/kernel/run-duty.ts: quarantine
-- 22 lines, 3 CTEs
--
-- parameters:
--   $1 duty text
--   $2 subject_id uuid
--   $3 error text
-- columns:
--   partition_key int2
--   attempt_index int4
--   timeout text or null
--   failure_count int4
--   retry_in_ms int8

with subject as materialized (
  select e.execution_id, e.partition_key, e.attempt_index, coalesce(s.failure_count, 0) + 1 as failure_count,
    case when u.timeout_at_ms is null then null when u.escalated_at_ms is null then u.timeout_behavior
      else u.second_behavior end::text as timeout
  from flowfabric.ff_exec_core e
  left join flowfabric.ff_suspension_current u on u.execution_id = any (array[e.execution_id])
  left join flowfabric.ff_set_aside s on s.duty = $1 and s.subject_id = e.execution_id
  where e.execution_id = $2
),
delayed as materialized (
  select j.*, least(3600000, 10000 * power(2, least(j.failure_count - 1, 20)))::int8 as retry_in_ms
  from subject j
),
written as (
  insert into flowfabric.ff_set_aside (duty, subject_id, failure_count, retry_at_ms, error)
  select $1, execution_id, failure_count, flowfabric.ff_now_ms() + retry_in_ms, $3
  from delayed
  on conflict (duty, subject_id) do update
  set failure_count = excluded.failure_count, retry_at_ms = excluded.retry_at_ms, error = excluded.error
)
select partition_key, attempt_index, timeout, failure_count, retry_in_ms
from delayed
