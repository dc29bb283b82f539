-- Made by `npm run sql`; do not edit.
-- worker.register
-- src/engine/worker/register.ts: write
-- 23 lines, 2 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 worker_instance_id text
--   $3 worker_id text
--   $4 lanes text[]
--   $5 kinds text[]
--   $6 any_kind bool
--   $7 versions text[]
--   $8 capabilities text[]
--   $9 host text or null
--   $10 pid int4 or null
--   $11 ttl_ms int8
--   $12 actor text
-- columns:
--   is_new bool
--   registered_at_ms int8
--   expires_at_ms int8

with written as (
  insert into flowfabric.ff_worker as w (namespace, worker_instance_id, worker_id, lanes, kinds, versions, capabilities,
    host, pid, ttl_ms, registered_at_ms, heartbeat_at_ms, expires_at_ms)
  select $1, $2, $3, $4::text[], case when $6 then null else $5::text[] end, $7::text[], $8::text[], $9, $10, $11,
    c.now_ms, c.now_ms, c.now_ms + $11
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  on conflict (namespace, worker_instance_id) do update
  set lanes = excluded.lanes, kinds = excluded.kinds, versions = excluded.versions,
    capabilities = excluded.capabilities, host = excluded.host, pid = excluded.pid, ttl_ms = excluded.ttl_ms,
    heartbeat_at_ms = excluded.heartbeat_at_ms, expires_at_ms = excluded.expires_at_ms
  where w.worker_id = excluded.worker_id
  returning w.xmax = 0 as is_new, w.namespace, w.worker_instance_id, w.worker_id, w.lanes, w.registered_at_ms,
    w.heartbeat_at_ms, w.expires_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id,
    details)
  select heartbeat_at_ms, 'worker_registered', 0, namespace, $12, worker_instance_id,
    jsonb_build_object('workerId', worker_id, 'lanes', to_jsonb(lanes), 'refreshed', not is_new)
  from written
)
select is_new, registered_at_ms, expires_at_ms
from written
