-- Made by `npm run sql`; do not edit.
-- dispatch.parent.take
-- src/engine/dispatch/parent.ts: take
-- 7 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   generation int4
--   parent_id uuid or null
--   has_parent bool
--   has_flow bool
--   has_children bool

select d.execution_id, d.generation, d.parent_id, p.execution_id is not null as has_parent,
  d.flow_id is not null as has_flow, d.has_children as has_children
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])
left join flowfabric.ff_exec_core p on p.execution_id = any (array[d.parent_id])
order by i.execution_id
for update of d skip locked
