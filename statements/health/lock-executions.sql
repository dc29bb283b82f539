-- Made by `npm run sql`; do not edit.
-- health.lock-executions
-- src/engine/health/repair.ts: lockExecutions
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns: none

select
from flowfabric.ff_exec_core e
where e.execution_id = any ($1)
order by e.execution_id
for no key update
