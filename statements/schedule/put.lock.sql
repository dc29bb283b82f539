-- Made by `npm run sql`; do not edit.
-- schedule.put.lock
-- src/engine/schedule/put-plan.ts: lockNamed
-- 11 lines, 1 CTE
--
-- parameters:
--   $1 namespace text
--   $2 schedule_name text
-- columns:
--   now_ms int8
--   schedule_id uuid or null
--   cron text or null
--   time_zone text or null
--   every_ms int8 or null
--   anchor_at_ms int8 or null
--   planned_at_ms int8 or null
--   until_ms int8 or null
--   paused_at_ms int8 or null
--   queued_at_ms int8[]
--   request_hash bytea or null

with found as materialized (
  select *
  from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  for no key update
)
select c.now_ms, f.schedule_id, f.cron, f.time_zone, f.every_ms, f.anchor_at_ms, f.planned_at_ms, f.until_ms,
  f.paused_at_ms, coalesce(f.queued_at_ms, '{}') as queued_at_ms, f.request_hash
from (select count(*) from found) k
left join found f on true
cross join lateral (select f.schedule_id as of, k.count as counted, flowfabric.ff_now_ms() as now_ms offset 0) c
