-- Made by `npm run sql`; do not edit.
-- execution.get-tag
-- src/engine/execution/get-tag.ts: readTag
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 key text
-- columns:
--   tag_value text

select t.tag_value
from flowfabric.ff_exec_core e
join flowfabric.ff_exec_tag t on t.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3) and t.tag_key = $4
