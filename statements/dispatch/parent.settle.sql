-- Made by `npm run sql`; do not edit.
-- dispatch.parent.settle
-- src/engine/dispatch/parent.ts: settle
-- 11 lines, 1 CTE
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 generations int4[]
-- columns: none

with settled as (
  delete from flowfabric.ff_dispatch d
  using unnest($1::uuid[], $2::int4[]) as i (execution_id, generation)
  where d.execution_id = any (array[i.execution_id]) and d.generation = i.generation and d.outcome <> 'none' and d.flow_id is null
    and not d.has_children
)
update flowfabric.ff_dispatch d
set parent_id = null
from unnest($1::uuid[], $2::int4[]) as i (execution_id, generation)
where d.execution_id = any (array[i.execution_id]) and d.generation = i.generation and d.outcome <> 'none'
  and (d.flow_id is not null or d.has_children)
