-- Made by `npm run sql`; do not edit.
-- flow.replay.lock-root
-- src/engine/flow/replay-read.ts: lockRoot
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
-- columns:
--   flow_id uuid

select r.flow_id
from flowfabric.ff_exec_core e
join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
join flowfabric.ff_flow_core r on r.flow_id = any (array[f.root_flow_id])
where e.execution_id = $1
for no key update of r
