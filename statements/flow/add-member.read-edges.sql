-- Made by `npm run sql`; do not edit.
-- flow.add-member.read-edges
-- src/engine/flow/add-member-read.ts: readEdges
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 edge_ids uuid[]
-- columns:
--   edge_id uuid

select g.edge_id
from flowfabric.ff_edge g
where g.flow_id = $1 and g.edge_id = any ($2::uuid[])
limit 1
