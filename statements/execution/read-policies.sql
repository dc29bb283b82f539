-- Made by `npm run sql`; do not edit.
-- execution.read-policies
-- src/engine/transition/read-locked.ts: readPolicies
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   policy jsonb or null

select e.execution_id, n.policy
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
