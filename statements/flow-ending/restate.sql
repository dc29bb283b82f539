-- Made by `npm run sql`; do not edit.
-- flow-ending.restate
-- src/engine/transition/change-flows.ts: restate
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 reasons text[]
-- columns: none

update flowfabric.ff_exec_core e
set failure_reason = i.reason
from unnest($1::uuid[], $2::text[]) as i (execution_id, reason)
where e.execution_id = any (array[i.execution_id])
