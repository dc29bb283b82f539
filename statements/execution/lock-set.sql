-- Made by `npm run sql`; do not edit.
-- execution.lock-set
-- src/engine/transition/lock-set.ts: lockSet
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid

select e.execution_id
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
order by i.execution_id
for no key update of e skip locked
