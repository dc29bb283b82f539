-- Made by `npm run sql`; do not edit.
-- event.timeline
-- src/engine/event/timeline.ts: timelineStatement
-- 11 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 event_id int8
--   $5 limit int8
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

select
  -- from src/engine/event/log-event.ts: eventColumns
  e.event_id, e.occurred_at_ms, e.lease_epoch, e.execution_id, e.flow_id, e.lease_id, e.attempt_index, e.generation,
  e.event_type::text as event_type, e.lease_effect, e.outcome, e.partition_key, e.namespace, e.actor,
  e.worker_instance_id, e.reason, e.details
  -- end of eventColumns
from flowfabric.ff_event e
where e.execution_id = $1
  and e.event_id > $4
  and e.partition_key = $2
  and ($3::text is null or e.namespace = $3)
order by e.event_id
limit $5
