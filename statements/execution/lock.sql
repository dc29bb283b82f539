-- Made by `npm run sql`; do not edit.
-- execution.lock
-- src/engine/transition/operator-set.ts: lockAlone
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
-- columns: none

select from flowfabric.ff_exec_core
where execution_id = $1
for no key update
