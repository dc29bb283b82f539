-- Made by `npm run sql`; do not edit.
-- duty.schedule-fire.set-aside
-- src/engine/duties/schedule-fire.ts: quarantine
-- 19 lines, 3 CTEs
--
-- parameters:
--   $1 schedule_id uuid
--   $2 error text
-- columns:
--   namespace text
--   schedule_name text
--   failure_count int4
--   retry_in_ms int8

with subject as materialized (
  select s.schedule_id, s.namespace, s.schedule_name, coalesce(a.failure_count, 0) + 1 as failure_count
  from flowfabric.ff_schedule s
  left join flowfabric.ff_set_aside a on a.duty = 'schedule-fire' and a.subject_id = any (array[s.schedule_id])
  where s.schedule_id = $1
),
delayed as materialized (
  select j.*, least(3600000, 10000 * power(2, least(j.failure_count - 1, 20)))::int8 as retry_in_ms
  from subject j
),
written as (
  insert into flowfabric.ff_set_aside (duty, subject_id, failure_count, retry_at_ms, error)
  select 'schedule-fire', schedule_id, failure_count, flowfabric.ff_now_ms() + retry_in_ms, $2
  from delayed
  on conflict (duty, subject_id) do update
  set failure_count = excluded.failure_count, retry_at_ms = excluded.retry_at_ms, error = excluded.error
)
select namespace, schedule_name, failure_count, retry_in_ms
from delayed
