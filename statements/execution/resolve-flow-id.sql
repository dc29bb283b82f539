-- Made by `npm run sql`; do not edit.
-- execution.resolve-flow-id
-- src/engine/execution/resolve-flow-id.ts: readFlowId
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   flow_id uuid or null

select flow_id
from flowfabric.ff_exec_core
where execution_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
