-- Made by `npm run sql`; do not edit.
-- schedule.resume.lock
-- src/engine/schedule/resume.ts: lockPaused
-- 15 lines, 2 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 schedule_name text
-- columns:
--   now_ms int8
--   schedule_id uuid
--   cron text or null
--   time_zone text or null
--   every_ms int8 or null
--   anchor_at_ms int8 or null
--   planned_at_ms int8 or null
--   until_ms int8 or null
--   paused_at_ms int8 or null
--   queued_count int4

with found as materialized (
  select *
  from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  for no key update
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from found
  having count(*) >= 0
)
-- end of clockAfter
select c.now_ms, f.schedule_id, f.cron, f.time_zone, f.every_ms, f.anchor_at_ms, f.planned_at_ms, f.until_ms,
  f.paused_at_ms, cardinality(f.queued_at_ms) as queued_count
from found f
cross join clock c
