-- Made by `npm run sql`; do not edit.
-- flow.close.look-unsealable
-- src/engine/flow/close.ts: lookUnsealable
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
-- columns:
--   member_name text
--   quorum int4
--   total int4

select m.member_name, g.quorum, g.total
from flowfabric.ff_edge_group g
join flowfabric.ff_flow_member m on m.flow_id = any (array[g.flow_id]) and m.execution_id = any (array[g.downstream_id])
where g.flow_id = $1 and not g.is_sealed and g.state = 'pending' and g.quorum > g.total
limit 1
