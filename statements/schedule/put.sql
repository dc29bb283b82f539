-- Made by `npm run sql`; do not edit.
-- schedule.put
-- src/engine/schedule/put.ts: write
-- 24 lines, 1 CTE
--
-- parameters:
--   $1 namespace text
--   $2 schedule_name text
--   $3 schedule_id uuid
--   $4 partition_key int2
--   $5 now_ms int8
--   $6 cron text or null
--   $7 time_zone text or null
--   $8 every_ms int8 or null
--   $9 anchor_at_ms int8 or null
--   $10 overlap text
--   $11 catch_up text
--   $12 catch_up_limit int4
--   $13 jitter_ms int8
--   $14 until_ms int8 or null
--   $15 planned_at_ms int8 or null
--   $16 next_fire_at_ms int8 or null
--   $17 queued_at_ms int8[]
--   $18 request_hash bytea
--   $19 queue_id int4
--   $20 priority int2
--   $21 deadline_after_ms int8 or null
--   $22 payload bytea or null
--   $23 payload_encoding text or null
--   $24 policy jsonb or null
--   $25 tags jsonb or null
--   $26 given jsonb
--   $27 actor text
-- columns: none

with written as (
  insert into flowfabric.ff_schedule as s (namespace, schedule_name, schedule_id, partition_key, created_at_ms,
    changed_at_ms, cron, time_zone, every_ms, anchor_at_ms, overlap, catch_up, catch_up_limit, jitter_ms, until_ms,
    planned_at_ms, next_fire_at_ms, queued_at_ms, request_hash, queue_id, priority, deadline_after_ms, payload,
    payload_encoding, policy, tags, given)
  values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10::text::flowfabric.ff_schedule_overlap,
    $11::text::flowfabric.ff_schedule_catch_up, $12, $13, $14, $15, $16, $17::int8[], $18, $19, $20, $21, $22, $23, $24,
    $25, $26)
  on conflict (namespace, schedule_name) do update
  set changed_at_ms = excluded.changed_at_ms, cron = excluded.cron, time_zone = excluded.time_zone,
    every_ms = excluded.every_ms, anchor_at_ms = excluded.anchor_at_ms, overlap = excluded.overlap,
    catch_up = excluded.catch_up, catch_up_limit = excluded.catch_up_limit, jitter_ms = excluded.jitter_ms,
    until_ms = excluded.until_ms, planned_at_ms = excluded.planned_at_ms,
    next_fire_at_ms = case when s.paused_at_ms is null then excluded.next_fire_at_ms end,
    queued_at_ms = excluded.queued_at_ms, request_hash = excluded.request_hash, queue_id = excluded.queue_id,
    priority = excluded.priority, deadline_after_ms = excluded.deadline_after_ms, payload = excluded.payload,
    payload_encoding = excluded.payload_encoding, policy = excluded.policy, tags = excluded.tags,
    given = excluded.given
  returning s.namespace, s.schedule_name, s.partition_key, s.changed_at_ms, s.planned_at_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select changed_at_ms, 'schedule_put', partition_key, namespace, $27,
  jsonb_strip_nulls(jsonb_build_object('scheduleId', schedule_name, 'plannedAt', planned_at_ms))
from written
