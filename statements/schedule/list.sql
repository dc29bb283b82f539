-- Made by `npm run sql`; do not edit.
-- schedule.list
-- src/engine/schedule/list.ts: listStatement
-- 11 lines, 0 CTEs
--
-- parameters:
--   $1 in_namespace text or null
--   $2 namespace text
--   $3 schedule_name text
--   $4 limit int8
-- columns:
--   schedule_name text
--   namespace text
--   partition_key int2
--   cron text or null
--   time_zone text or null
--   every_ms int8 or null
--   overlap text
--   catch_up text
--   catch_up_limit int4
--   jitter_ms int8
--   until_ms int8 or null
--   planned_at_ms int8 or null
--   last_fired_at_ms int8 or null
--   last_planned_at_ms int8 or null
--   last_execution_id uuid or null
--   fired_count int8
--   skipped_count int8
--   queued_at_ms int8[]
--   created_at_ms int8
--   changed_at_ms int8
--   paused_at_ms int8 or null
--   execution_kind text
--   lane_id text
--   task_version text
--   priority int2
--   required_capabilities text[]
--   deadline_after_ms int8 or null
--   tags jsonb or null
--   policy jsonb or null

select
  -- from src/engine/schedule/schedule.ts: scheduleColumns
  s.schedule_name, s.namespace, s.partition_key, s.cron, s.time_zone, s.every_ms, s.overlap, s.catch_up, s.catch_up_limit,
  s.jitter_ms, s.until_ms, s.planned_at_ms, s.last_fired_at_ms, s.last_planned_at_ms, s.last_execution_id, s.fired_count,
  s.skipped_count, s.queued_at_ms, s.created_at_ms, s.changed_at_ms, s.paused_at_ms, q.execution_kind, q.lane_id,
  q.task_version, s.priority, q.required_capabilities, s.deadline_after_ms, s.tags, s.policy
  -- end of scheduleColumns
from flowfabric.ff_schedule s
join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
where ($1::text is null or s.namespace = $1)
  and (s.namespace, s.schedule_name) > ($2, $3)
order by s.namespace, s.schedule_name
limit $4
