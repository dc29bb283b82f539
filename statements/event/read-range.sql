-- Made by `npm run sql`; do not edit.
-- event.read-range
-- src/engine/event/subscription.ts: readRange
-- 19 lines, 0 CTEs
--
-- parameters:
--   $1 from int8
--   $2 to int8
--   $3 namespace text or null
--   $4 kinds text[]
--   $5 tag_keys text[]
--   $6 tag_values text[]
--   $7 limit int8
--   $8 flow_id uuid or null
--   $9 execution_id uuid or null
--   $10 partition_key int2 or null
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
where e.event_id >= $1 and e.event_id < $2
  and ($3::text is null or e.namespace = $3)
  and (cardinality($4::text[]) = 0 or e.event_type::text = any ($4))
  and ($8::uuid is null or e.flow_id = $8 and e.partition_key = $10)
  and ($9::uuid is null or e.execution_id = $9 and e.partition_key = $10)
  and not exists (
    select
    from unnest($5::text[], $6::text[]) as w (tag_key, tag_value)
    where not exists (
      select
      from flowfabric.ff_exec_tag t
      where t.execution_id = any (array[e.execution_id]) and t.tag_key = w.tag_key and t.tag_value = w.tag_value))
order by e.event_id
limit $7
