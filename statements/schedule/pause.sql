-- Made by `npm run sql`; do not edit.
-- schedule.pause
-- src/engine/schedule/pause.ts: pause
-- 20 lines, 3 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 schedule_name text
--   $3 actor text
-- columns:
--   is_new bool

with found as materialized (
  select schedule_id, paused_at_ms
  from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  for no key update
),
paused as (
  update flowfabric.ff_schedule s
  set paused_at_ms = flowfabric.ff_now_ms(), next_fire_at_ms = null
  from found f
  where s.schedule_id = any (array[f.schedule_id]) and f.paused_at_ms is null
  returning s.paused_at_ms, s.partition_key, s.namespace, s.schedule_name
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select paused_at_ms, 'schedule_paused', partition_key, namespace, $3, jsonb_build_object('scheduleId', schedule_name)
  from paused
)
select paused_at_ms is null as is_new
from found
