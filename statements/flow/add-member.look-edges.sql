-- Made by `npm run sql`; do not edit.
-- flow.add-member.look-edges
-- src/engine/flow/add-member-look.ts: lookEdges
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
