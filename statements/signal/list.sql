-- Made by `npm run sql`; do not edit.
-- signal.list
-- src/engine/waiting/signal/list.ts: listStatement
-- 13 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 signal_no int8
--   $5 limit int8
-- columns:
--   signal_no int8
--   execution_id uuid
--   partition_key int2
--   signal_id uuid
--   waitpoint_id uuid or null
--   waitpoint_key text or null
--   signal_name text
--   signal_category text
--   source_type text
--   source_identity text
--   claimed_type text or null
--   claimed_identity text or null
--   correlation_id text or null
--   payload bytea or null
--   payload_encoding text or null
--   effect text
--   accepted_at_ms int8
--   taken_at_ms int8 or null

-- from src/engine/waiting/signal-row.ts: signalColumns
select g.signal_no, g.execution_id, e.partition_key as partition_key, g.signal_id, g.waitpoint_id, g.waitpoint_key, g.signal_name,
  g.signal_category, g.source_type, g.source_identity, g.claimed_type, g.claimed_identity, g.correlation_id, g.payload as payload,
  g.payload_encoding, g.effect, g.accepted_at_ms, g.taken_at_ms
-- end of signalColumns
from flowfabric.ff_exec_core e
cross join lateral (
  select g.*
  from flowfabric.ff_signal g
  where g.execution_id = e.execution_id and g.signal_no > $4
  order by g.signal_no
  limit $5
) g
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
order by g.signal_no
