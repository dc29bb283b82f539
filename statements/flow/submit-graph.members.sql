-- Made by `npm run sql`; do not edit.
-- flow.submit-graph.members
-- src/engine/flow/submit-graph.ts: readMembers
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 root_flow_id uuid
-- columns:
--   flow_id uuid
--   execution_id uuid
--   sub_flow_id uuid or null
--   member_name text

select m.flow_id, m.execution_id, m.sub_flow_id, m.member_name
from flowfabric.ff_flow_core f
join flowfabric.ff_flow_member m on m.flow_id = any (array[f.flow_id])
where f.root_flow_id = $1
