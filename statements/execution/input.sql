-- Made by `npm run sql`; do not edit.
-- execution.input
-- src/engine/execution/input.ts: readInput
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   payload bytea or null
--   payload_encoding text or null

select i.payload, i.payload_encoding
from flowfabric.ff_exec_core e
join flowfabric.ff_exec_input i on i.partition_key = e.partition_key and i.execution_id = e.execution_id
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
