-- Made by `npm run sql`; do not edit.
-- lease.list-expired
-- src/engine/lease/list-expired.ts: listStatement
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text or null
--   $2 expires_at_ms int8
--   $3 execution_id uuid
--   $4 limit int8
-- columns:
--   execution_id uuid
--   partition_key int2
--   lease_id uuid
--   lease_epoch int8
--   attempt_index int4
--   worker_instance_id text
--   expires_at_ms int8

select l.execution_id, e.partition_key, l.lease_id, l.lease_epoch, l.attempt_index, l.worker_instance_id, l.expires_at_ms
from flowfabric.ff_lease l
join flowfabric.ff_exec_core e on e.execution_id = any (array[l.execution_id])
where l.expires_at_ms > 0 and l.expires_at_ms <= flowfabric.ff_now_ms()
  and (l.expires_at_ms, l.execution_id) > ($2, $3)
  and ($1::text is null or e.namespace = $1)
order by l.expires_at_ms, l.execution_id
limit $4
