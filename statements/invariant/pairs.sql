-- Made by `npm run sql`; do not edit.
-- invariant.pairs
-- src/engine/kernel/invariant.ts: invariant
-- 9 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select coalesce(e.execution_id, n.execution_id)::text as subject,
  concat_ws(' ', e.partition_key, n.partition_key, q.lane_id) as found
from flowfabric.ff_exec_core e
  full join flowfabric.ff_exec_input n
  on n.execution_id = e.execution_id and n.partition_key = e.partition_key and n.queue_id = e.queue_id
left join flowfabric.ff_queue q on q.queue_id = e.queue_id and q.namespace = e.namespace
left join flowfabric.ff_lane_registry r on r.namespace = q.namespace and r.lane_id = q.lane_id
where e.execution_id is null or n.execution_id is null or r.lane_id is null
-- end of invariants
limit 10
