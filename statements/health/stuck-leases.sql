-- Made by `npm run sql`; do not edit.
-- health.stuck-leases
-- src/engine/health/upkeep.ts: readStuckLeases
-- 10 lines, 0 CTEs
--
-- parameters:
--   $1 late_ms int8
--   $2 limit int8
-- columns:
--   execution_id uuid
--   partition_key int2 or null
--   worker_instance_id text
--   expired_ms_ago int8

select l.execution_id, e.partition_key, l.worker_instance_id, flowfabric.ff_now_ms() - l.expires_at_ms as expired_ms_ago
from (
  select *
  from flowfabric.ff_lease
  where expires_at_ms > 0 and expires_at_ms < flowfabric.ff_now_ms() - $1
  order by expires_at_ms
  limit $2
) l
left join flowfabric.ff_exec_core e on e.execution_id = l.execution_id
order by l.expires_at_ms
