-- Made by `npm run sql`; do not edit.
-- dispatch.parent.named
-- src/engine/dispatch/parent.ts: named
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   parent_id uuid or null
--   created_at_ms int8

select d.execution_id, d.parent_id, d.created_at_ms
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])
