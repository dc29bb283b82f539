-- Made by `npm run sql`; do not edit.
-- duty.worker-expiry
-- src/engine/duties/worker-expiry.ts: deleteSilent
-- 23 lines, 3 CTEs
--
-- parameters:
--   $1 batch int8
-- columns:
--   deleted_count int8

with silent as materialized (
  select w.namespace, w.worker_instance_id
  from flowfabric.ff_worker w
  where w.expires_at_ms <= flowfabric.ff_now_ms()
  order by w.expires_at_ms
  limit $1
  for update skip locked
),
deleted as (
  delete from flowfabric.ff_worker w
  using silent s
  where w.namespace = any (array[s.namespace]) and w.worker_instance_id = any (array[s.worker_instance_id])
  returning w.namespace, w.worker_instance_id, w.worker_id
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id,
    details)
  select flowfabric.ff_now_ms(), 'worker_ttl_swept', 0, namespace, 'worker-expiry', worker_instance_id,
    jsonb_build_object('workerId', worker_id)
  from deleted
)
select count(*) as deleted_count
from deleted
