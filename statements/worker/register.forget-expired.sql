-- Made by `npm run sql`; do not edit.
-- worker.register.forget-expired
-- src/engine/worker/register.ts: forgetExpired
-- 9 lines, 1 CTE
--
-- parameters:
--   $1 namespace text
--   $2 worker_instance_id text
-- columns: none

with swept as (
  delete from flowfabric.ff_worker
  where namespace = $1 and worker_instance_id = $2 and expires_at_ms <= flowfabric.ff_now_ms()
  returning namespace, worker_instance_id, worker_id
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id, details)
select flowfabric.ff_now_ms(), 'worker_ttl_swept', 0, namespace, 'worker-expiry', worker_instance_id,
  jsonb_build_object('workerId', worker_id)
from swept
