-- Made by `npm run sql`; do not edit.
-- flow.connect.find-edges
-- src/engine/flow/connect-read.ts: findEdges
-- 7 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 edge_id uuid
--   $3 upstream_id uuid
--   $4 downstream_id uuid
-- columns:
--   edge_id uuid
--   upstream_id uuid
--   downstream_id uuid
--   kind text
--   data_ref text or null

select edge_id, upstream_id, downstream_id, kind::text as kind, data_ref
from flowfabric.ff_edge
where flow_id = $1 and edge_id = $2
union
select edge_id, upstream_id, downstream_id, kind::text, data_ref
from flowfabric.ff_edge
where downstream_id = $4 and upstream_id = $3 and flow_id = $1
