-- Made by `npm run sql`; do not edit.
-- flow.add-member.read-upstreams
-- src/engine/flow/add-member-read.ts: readUpstreams
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 upstream_ids uuid[]
-- columns:
--   execution_id uuid

select m.execution_id
from flowfabric.ff_flow_member m
where m.flow_id = $1 and m.execution_id = any ($2::uuid[])
