-- Made by `npm run sql`; do not edit.
-- flow.connect.edges-behind
-- src/engine/flow/cycle.ts: edgesBehind
-- 17 lines, 1 CTE
--
-- parameters:
--   $1 flow_id uuid
--   $2 upstream_id uuid
--   $3 downstream_id uuid
-- columns:
--   upstream_id uuid
--   downstream_id uuid
--   upstream_name text

with recursive behind (execution_id) as (
  select $3::uuid
  union
  select e.downstream_id
  from behind b
  join flowfabric.ff_edge e on e.upstream_id = any (array[b.execution_id]) and e.kind <> 'start'
)
select e.upstream_id, e.downstream_id, m.member_name as upstream_name
from behind b
join flowfabric.ff_edge e on e.upstream_id = any (array[b.execution_id]) and e.kind <> 'start'
cross join lateral (
  select n.member_name
  from flowfabric.ff_flow_member n
  where n.flow_id = $1 and n.execution_id = b.execution_id
  offset 0
) m
where exists (select from behind where execution_id = $2)
