-- Made by `npm run sql`; do not edit.
-- execution.lock
-- src/engine/transition/operator-set.ts: lockAlone
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
-- columns:
--   execution_id uuid

select execution_id
from flowfabric.ff_exec_core
where execution_id = $1
for no key update
