-- Made by `npm run sql`; do not edit.
-- flow.connect.read
-- src/engine/flow/connect-read.ts: readMembers
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 upstream_id uuid
--   $3 downstream_id uuid
-- columns:
--   upstream_name text or null
--   downstream_name text or null
--   is_flow bool
--   eligibility_state text
--   attempt_state text
--   public_state text
--   group_state text
--   is_sealed bool or null
--   policy text
--   quorum int4 or null
--   on_satisfied text

select u.member_name as upstream_name, d.member_name as downstream_name, d.sub_flow_id is not null as is_flow,
  e.eligibility_state, e.attempt_state, e.public_state,
  g.state as group_state, g.is_sealed, g.policy, g.quorum, g.on_satisfied
from (select $1::uuid as flow_id, $2::uuid as upstream_id, $3::uuid as downstream_id) i
left join flowfabric.ff_flow_member u on u.flow_id = any (array[i.flow_id]) and u.execution_id = any (array[i.upstream_id])
left join flowfabric.ff_flow_member d on d.flow_id = any (array[i.flow_id]) and d.execution_id = any (array[i.downstream_id])
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.downstream_id])
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[i.downstream_id])
