-- Made by `npm run sql`; do not edit.
-- flow.read-locked
-- src/engine/flow/edit.ts: readFlow
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   namespace text
--   closed_at_ms int8 or null
--   cancelled_at_ms int8 or null
--   outcome text
--   graph_revision int8
--   member_count int4
--   edge_count int4

select namespace, closed_at_ms, cancelled_at_ms, outcome, graph_revision, member_count, edge_count
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
