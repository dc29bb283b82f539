-- Made by `npm run sql`; do not edit.
-- flow.describe-edge
-- src/engine/flow/describe-edge.ts: describeStatement
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 edge_id uuid
-- columns:
--   flow_id uuid
--   edge_id uuid
--   upstream_id uuid
--   downstream_id uuid
--   kind text
--   resolution text
--   resolved_generation int4 or null
--   data_ref text or null
--   created_at_ms int8
--   created_by text

select
  x.flow_id, x.edge_id, x.upstream_id, x.downstream_id, x.kind, x.resolution, x.resolved_generation, x.data_ref,
  x.created_at_ms, x.created_by
from flowfabric.ff_flow_core f
join flowfabric.ff_edge x on x.flow_id = any (array[f.flow_id]) and x.edge_id = $4
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
