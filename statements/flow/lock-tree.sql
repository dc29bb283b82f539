-- Made by `npm run sql`; do not edit.
-- flow.lock-tree
-- src/engine/flow/edit.ts: lockTree
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
-- columns: none

select
from flowfabric.ff_flow_core root
where root.flow_id = (select f.root_flow_id from flowfabric.ff_flow_core f where f.flow_id = $1)
for no key update
