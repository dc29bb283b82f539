-- Made by `npm run sql`; do not edit.
-- execution.partitions
-- src/engine/kernel/bare-id.ts: statements
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 ids uuid[]
--   $2 namespace text or null
-- columns:
--   id uuid
--   partition_key int2

select e.execution_id as id, e.partition_key
from unnest($1::uuid[]) as i (id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.id])
where $2::text is null or e.namespace = $2
