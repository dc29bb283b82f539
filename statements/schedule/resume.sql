-- Made by `npm run sql`; do not edit.
-- schedule.resume
-- src/engine/schedule/resume.ts: goOn
-- 9 lines, 1 CTE
--
-- parameters:
--   $1 schedule_id uuid
--   $2 planned_at_ms int8 or null
--   $3 next_fire_at_ms int8 or null
--   $4 now_ms int8
--   $5 actor text
-- columns: none

with resumed as (
  update flowfabric.ff_schedule
  set paused_at_ms = null, planned_at_ms = $2, next_fire_at_ms = $3
  where schedule_id = $1
  returning partition_key, namespace, schedule_name
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select $4, 'schedule_resumed', partition_key, namespace, $5, jsonb_build_object('scheduleId', schedule_name)
from resumed
