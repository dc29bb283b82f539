-- Made by `npm run sql`; do not edit.
-- flow.partitions
-- src/engine/kernel/bare-id.ts: statements
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 ids uuid[]
--   $2 namespace text or null
-- columns:
--   id uuid
--   partition_key int2

select f.flow_id as id, f.partition_key
from unnest($1::uuid[]) as i (id)
join flowfabric.ff_flow_core f on f.flow_id = any (array[i.id])
where $2::text is null or f.namespace = $2
