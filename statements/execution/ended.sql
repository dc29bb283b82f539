-- Made by `npm run sql`; do not edit.
-- execution.ended
-- src/engine/execution/endings.ts: readEnded
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid

select i.execution_id
from unnest($1::uuid[]) as i (execution_id)
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
where coalesce(e.lifecycle_phase, 'terminal') = 'terminal'
