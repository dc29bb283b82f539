-- Made by `npm run sql`; do not edit.
-- schedule.delete
-- src/engine/schedule/delete.ts: remove
-- 18 lines, 3 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 schedule_name text
--   $3 actor text
-- columns:
--   schedule_name text

with deleted as (
  delete from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  returning schedule_id, partition_key, namespace, schedule_name
),
taken_up as (
  delete from flowfabric.ff_set_aside a
  using deleted d
  where a.duty = 'schedule-fire' and a.subject_id = any (array[d.schedule_id])
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select flowfabric.ff_now_ms(), 'schedule_deleted', partition_key, namespace, $3,
    jsonb_build_object('scheduleId', schedule_name)
  from deleted
)
select schedule_name
from deleted
