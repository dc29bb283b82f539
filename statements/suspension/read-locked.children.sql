-- Made by `npm run sql`; do not edit.
-- suspension.read-locked.children
-- src/engine/waiting/suspension/read-locked.ts: childStatement
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 parent_ids uuid[]
--   $2 child_ids uuid[]
--   $3 partition_keys int2[]
-- columns:
--   execution_id uuid
--   child_id uuid
--   partition_key int2
--   terminal_at_ms int8 or null

select i.parent_id as execution_id, i.child_id, e.partition_key, e.terminal_at_ms
from unnest($1::uuid[], $2::uuid[], $3::int2[]) as i (parent_id, child_id, partition_key)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.child_id])
where e.parent_id = i.parent_id and e.partition_key = i.partition_key
  and (e.attached & 32 /* parent */ <> 0 or e.terminal_at_ms is not null)
