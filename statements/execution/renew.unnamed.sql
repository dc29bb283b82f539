-- Made by `npm run sql`; do not edit.
-- execution.renew.unnamed
-- src/engine/execution/renew.ts: leasesOfInstance
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 worker_instance_id text
--   $2 namespace text or null
--   $3 named uuid[]
-- columns:
--   execution_id uuid
--   partition_key int2
--   lease_id uuid
--   lease_epoch int8
--   expires_at_ms int8

select l.execution_id, e.partition_key, l.lease_id, l.lease_epoch, l.expires_at_ms
from flowfabric.ff_lease l
join flowfabric.ff_exec_core e on e.execution_id = any (array[l.execution_id])
where l.worker_instance_id = $1
  and ($2::text is null or e.namespace = $2)
  and l.expires_at_ms > flowfabric.ff_now_ms()
  and l.lease_id <> all ($3::uuid[])
limit 1000
