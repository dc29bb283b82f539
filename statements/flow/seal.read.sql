-- Made by `npm run sql`; do not edit.
-- flow.seal.read
-- src/engine/flow/seal.ts: readGroup
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 downstream_id uuid
-- columns:
--   member_name text
--   state text
--   is_sealed bool or null
--   quorum int4 or null
--   total int4 or null

select m.member_name, g.state, g.is_sealed, g.quorum, g.total
from flowfabric.ff_flow_member m
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[m.execution_id])
where m.flow_id = $1 and m.execution_id = $2
