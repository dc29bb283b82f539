-- Made by `npm run sql`; do not edit.
-- execution.result
-- src/engine/execution/result.ts: readResult
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   public_state text
--   result bytea or null
--   result_encoding text or null
--   reason text or null

select e.public_state, r.result, r.result_encoding, coalesce(e.failure_reason, e.cancellation_reason) as reason
from flowfabric.ff_exec_core e
left join flowfabric.ff_exec_result r on r.execution_id = any (array[e.execution_id]) and r.generation = e.generation
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
