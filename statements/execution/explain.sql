-- Made by `npm run sql`; do not edit.
-- execution.explain
-- src/engine/execution/explain.ts: readFacts
-- 53 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   now_ms int8
--   parked_at_ms int8 or null
--   cancel_deadline_at_ms int8 or null
--   last_failure text or null
--   expired_workers text[]
--   condition jsonb or null
--   grant_instance_id text or null
--   grant_expires_at_ms int8 or null
--   aside_duty text or null
--   aside_failure_count int4 or null
--   aside_retry_at_ms int8 or null
--   aside_error text or null
--   ahead_count int8
--   alive_count int8
--   lane_count int8
--   kind_count int8
--   version_count int8
--   able_count int8
--   supervised_at_ms int8 or null

select c.now_ms, e.parked_at_ms, e.cancel_deadline_at_ms, a.failure_reason as last_failure, s.condition,
  array(
    select v.worker_instance_id
    from flowfabric.ff_event v
    where v.execution_id = e.execution_id and v.lease_effect = 'expired'
    order by v.event_id desc
    limit 3
  ) as expired_workers,
  g.worker_instance_id as grant_instance_id, g.expires_at_ms as grant_expires_at_ms,
  d.duty as aside_duty, d.failure_count as aside_failure_count, d.retry_at_ms as aside_retry_at_ms, d.error as aside_error,
  h.ahead_count, w.alive_count, w.lane_count, w.kind_count, w.version_count, w.able_count,
  (select max(u.last_run_at_ms) from flowfabric.ff_duty u) as supervised_at_ms
from (select flowfabric.ff_now_ms() as now_ms offset 0) c
cross join flowfabric.ff_exec_core e
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])
left join flowfabric.ff_attempt a
  on a.execution_id = any (array[e.execution_id]) and a.attempt_index = any (array[e.attempt_index])
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[case when e.lifecycle_phase = 'suspended' then e.execution_id end])
left join flowfabric.ff_grant g on g.execution_id = any (array[e.execution_id]) and g.expires_at_ms > c.now_ms
left join lateral (
  select duty, failure_count, retry_at_ms, error
  from flowfabric.ff_set_aside
  where subject_id = e.execution_id
  order by retry_at_ms desc
  limit 1
) d on true
cross join lateral (
  select count(*) as ahead_count
  from (
    select
    from flowfabric.ff_ready r
    where e.eligibility_state = 'eligible_now'
      and r.queue_id = e.queue_id
      and (r.neg_priority, r.rank, r.execution_id) < (-e.priority, e.rank, e.execution_id)
    limit 1000
  ) before
) h
cross join lateral (
  select count(*) as alive_count,
    count(*) filter (where f.lane) as lane_count,
    count(*) filter (where f.lane and f.kind) as kind_count,
    count(*) filter (where f.lane and f.kind and f.version) as version_count,
    count(*) filter (where f.lane and f.kind and f.version and f.able) as able_count
  from flowfabric.ff_worker i
  cross join lateral (
    select q.lane_id = any (i.lanes) as lane, i.kinds is null or q.execution_kind = any (i.kinds) as kind,
      q.task_version = '' or q.task_version = any (i.versions) as version,
      q.required_capabilities <@ i.capabilities as able
  ) f
  where i.namespace = any (array[e.namespace, '']) and i.expires_at_ms > c.now_ms
) w
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
