-- Made by `npm run sql`; do not edit.
-- waitpoint.token-event
-- src/engine/waiting/waitpoint/token-events.ts: eventStatement
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 at_ms int8
--   $3 actor text
--   $4 details jsonb
-- columns: none

insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
  actor, details)
select $2, execution_id, flow_id, generation, 'token_read', partition_key, namespace, $3, $4
from flowfabric.ff_exec_core
where execution_id = $1
