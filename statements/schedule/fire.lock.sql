-- Made by `npm run sql`; do not edit.
-- schedule.fire.lock
-- src/engine/schedule/locked.ts: lockSchedules
-- 17 lines, 2 CTEs
--
-- parameters:
--   $1 schedule_ids uuid[]
-- columns:
--   now_ms int8
--   schedule_id uuid
--   partition_key int2
--   schedule_name text
--   cron text or null
--   time_zone text or null
--   every_ms int8 or null
--   anchor_at_ms int8 or null
--   planned_at_ms int8 or null
--   next_fire_at_ms int8 or null
--   last_planned_at_ms int8 or null
--   last_execution_id uuid or null
--   paused_at_ms int8 or null
--   until_ms int8 or null
--   jitter_ms int8
--   overlap text
--   catch_up text
--   catch_up_limit int4
--   queued_at_ms int8[]

with target as materialized (
  select s.*
  from unnest($1::uuid[]) as i (schedule_id)
  join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
  order by i.schedule_id
  for no key update of s skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
)
-- end of clockAfter
select c.now_ms, t.schedule_id, t.partition_key, t.schedule_name, t.cron, t.time_zone, t.every_ms, t.anchor_at_ms,
  t.planned_at_ms, t.next_fire_at_ms, t.last_planned_at_ms, t.last_execution_id, t.paused_at_ms, t.until_ms, t.jitter_ms,
  t.overlap, t.catch_up, t.catch_up_limit, t.queued_at_ms
from target t
cross join clock c
