-- Made by `npm run sql`; do not edit.
-- event.read
-- src/engine/event/frontier.ts: readPage
-- 12 lines, 0 CTEs
--
-- parameters:
--   $1 next int8
--   $2 with_tags bool
--   $3 limit int8
-- columns:
--   event_id int8
--   occurred_at_ms int8
--   lease_epoch int8 or null
--   execution_id uuid or null
--   flow_id uuid or null
--   lease_id uuid or null
--   attempt_index int4 or null
--   generation int4 or null
--   event_type text
--   lease_effect text
--   outcome text
--   partition_key int2
--   namespace text
--   actor text
--   worker_instance_id text or null
--   reason text or null
--   details jsonb or null
--   tags jsonb or null
--   oldest_running int8

select
  -- from src/engine/event/log-event.ts: eventColumns
  e.event_id, e.occurred_at_ms, e.lease_epoch, e.execution_id, e.flow_id, e.lease_id, e.attempt_index, e.generation,
  e.event_type::text as event_type, e.lease_effect, e.outcome, e.partition_key, e.namespace, e.actor,
  e.worker_instance_id, e.reason, e.details,
  -- end of eventColumns
  case when $2 then coalesce(
    (select jsonb_object_agg(t.tag_key, t.tag_value) from flowfabric.ff_exec_tag t where t.execution_id = e.execution_id),
    '{}') end as tags,
  (select pg_snapshot_xmin(pg_current_snapshot())::text::int8) as oldest_running
from flowfabric.ff_event e
where e.event_id >= $1
order by e.event_id
limit $3
