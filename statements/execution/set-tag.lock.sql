-- Made by `npm run sql`; do not edit.
-- execution.set-tag.lock
-- src/engine/execution/set-tag.ts: lockExecution
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   execution_id uuid

select execution_id
from flowfabric.ff_exec_core
where execution_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
for no key update
