-- Made by `npm run sql`; do not edit.
-- worker.mark-dead
-- src/engine/worker/mark-dead.ts: remove
-- 14 lines, 2 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 worker_instance_id text
--   $3 reason text
--   $4 actor text
-- columns:
--   worker_instance_id text

with marked as (
  delete from flowfabric.ff_worker
  where namespace = $1 and worker_instance_id = $2 and expires_at_ms > flowfabric.ff_now_ms()
  returning namespace, worker_instance_id, worker_id
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id,
    reason, details)
  select flowfabric.ff_now_ms(), 'worker_marked_dead', 0, namespace, $4, worker_instance_id, $3,
    jsonb_build_object('workerId', worker_id)
  from marked
)
select worker_instance_id
from marked
