-- Made by `npm run sql`; do not edit.
-- waitpoint.partitions
-- src/engine/kernel/bare-id.ts: statements
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 ids uuid[]
--   $2 namespace text or null
-- columns:
--   id uuid
--   partition_key int2

select w.waitpoint_id as id, w.partition_key
from unnest($1::uuid[]) as i (id)
join flowfabric.ff_waitpoint_pending w on w.waitpoint_id = any (array[i.id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[w.execution_id])
where $2::text is null or e.namespace = $2
