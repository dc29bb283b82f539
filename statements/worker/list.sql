-- Made by `npm run sql`; do not edit.
-- worker.list
-- src/engine/worker/list.ts: listStatement
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 in_namespace text or null
--   $2 namespace text
--   $3 worker_instance_id text
--   $4 limit int8
-- columns:
--   namespace text
--   worker_instance_id text
--   worker_id text
--   lanes text[]
--   kinds text[]
--   any_kind bool
--   versions text[]
--   capabilities text[]
--   host text or null
--   pid int4 or null
--   registered_at_ms int8
--   heartbeat_at_ms int8
--   expires_at_ms int8
--   ttl_ms int8

select namespace, worker_instance_id, worker_id, lanes, coalesce(kinds, '{}') as kinds, kinds is null as any_kind,
  versions, capabilities, host, pid, registered_at_ms, heartbeat_at_ms, expires_at_ms, ttl_ms
from flowfabric.ff_worker
where ($1::text is null or namespace = any (array[$1, '']))
  and (namespace, worker_instance_id) > ($2, $3)
  and expires_at_ms > flowfabric.ff_now_ms()
order by namespace, worker_instance_id
limit $4
