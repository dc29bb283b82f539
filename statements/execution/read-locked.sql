-- Made by `npm run sql`; do not edit.
-- execution.read-locked
-- src/engine/transition/read-locked.ts: readLocked
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   partition_key int2
--   namespace text
--   lifecycle_phase text
--   eligibility_state text
--   attempt_state text
--   interruption text
--   public_state text
--   attached int4
--   queue_id int4
--   generation int4
--   attempt_index int4
--   retry_count int4
--   consecutive_expiry_count int4
--   lease_id uuid or null
--   lease_epoch int8
--   expires_at_ms int8 or null
--   is_started bool or null
--   worker_instance_id text or null
--   started_at_ms int8 or null
--   delay_until_ms int8 or null
--   deadline_at_ms int8 or null
--   attempt_deadline_at_ms int8 or null
--   cancel_requested_at_ms int8 or null
--   cancel_deadline_at_ms int8 or null
--   cancellation_reason text or null
--   cancelled_by text or null
--   stop_outcome text
--   now_ms int8

select e.execution_id, e.partition_key, e.namespace, e.lifecycle_phase, e.eligibility_state, e.attempt_state,
  e.interruption, e.public_state, e.attached, e.queue_id, e.generation, e.attempt_index, e.retry_count, e.consecutive_expiry_count,
  e.lease_id, e.lease_epoch, l.expires_at_ms, l.is_started, l.worker_instance_id, e.started_at_ms, e.delay_until_ms,
  e.deadline_at_ms, e.attempt_deadline_at_ms, e.cancel_requested_at_ms, e.cancel_deadline_at_ms, e.cancellation_reason,
  e.cancelled_by, e.stop_outcome, k.now_ms
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
left join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
