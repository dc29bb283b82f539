-- Made by `npm run sql`; do not edit.
-- attempt.list
-- src/engine/attempt/list.ts: listStatement
-- 16 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 attempt_index int8
--   $5 limit int8
-- columns:
--   attempt_index int4
--   generation int4
--   attempt_type text
--   outcome text
--   started_at_ms int8
--   ended_at_ms int8 or null
--   lease_id uuid or null
--   lease_epoch int8
--   worker_id text or null
--   worker_instance_id text or null
--   failure_reason text or null
--   failure_category text
--   error bytea or null
--   error_encoding text or null

select a.attempt_index, a.generation, a.attempt_type, a.outcome, a.started_at_ms, a.ended_at_ms, a.lease_id,
  a.lease_epoch, a.worker_id, a.worker_instance_id, a.failure_reason, a.failure_category, a.error, a.error_encoding
from flowfabric.ff_exec_core e
join flowfabric.ff_attempt a on a.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
  and a.attempt_index > $4::int8
  and (e.lifecycle_phase <> 'active' or a.attempt_index <> e.attempt_index)
union all
select l.attempt_index, e.generation, l.attempt_type, 'running', l.attempt_started_at_ms, null, l.lease_id,
  l.lease_epoch, l.worker_id, l.worker_instance_id, null, null, null, null
from flowfabric.ff_exec_core e
join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
  and l.attempt_index > $4::int8
order by 1
limit $5
