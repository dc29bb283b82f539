-- Made by `npm run sql`; do not edit.
-- schedule.fire.create
-- src/engine/schedule/fire.ts: insertFirings
-- 62 lines, 7 CTEs
--
-- parameters:
--   $1 schedule_ids uuid[]
--   $2 execution_ids uuid[]
--   $3 keys text[]
--   $4 planned_ats_ms int8[]
--   $5 delays_ms int8[]
--   $6 creators text[]
--   $7 request_hash bytea
--   $8 key_ttl_ms int8
--   $9 actor text
-- columns:
--   queue_id int4
--   is_delayed bool

with fresh as materialized (
  select i.execution_id, i.idempotency_key, i.planned_at_ms, i.creator, s.schedule_id, s.schedule_name, s.partition_key,
    s.namespace, s.queue_id, s.priority, s.payload, s.payload_encoding, s.policy, s.tags, c.now_ms,
    nullif(q.task_version, '') as task_version, i.delay_ms > 0 as is_delayed,
    case when i.delay_ms > 0 then c.now_ms + i.delay_ms end as due_ms,
    null::int8 as deadline_at_ms, s.deadline_after_ms as deadline_ms, c.now_ms + s.deadline_after_ms as deadline_due_ms,
    case when s.tags is null then 0 else 1024 end as attached
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest($1::uuid[], $2::uuid[], $3::text[], $4::int8[], $5::int8[], $6::text[])
    as i (schedule_id, execution_id, idempotency_key, planned_at_ms, delay_ms, creator)
  join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
  join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
),
-- from src/engine/transition/new-rows.ts: writeFreshWith
core as (
  insert into flowfabric.ff_exec_core (execution_id, partition_key, namespace, queue_id, task_version, priority, rank,
    created_at_ms, last_mutation_at_ms, delay_until_ms, deadline_at_ms, attached,
    lifecycle_phase, ownership_state, eligibility_state, attempt_state, schedule_id)
  select execution_id, partition_key, namespace, queue_id, task_version, priority, now_ms,
    now_ms, now_ms, case when is_delayed then due_ms end, deadline_due_ms, attached | case when policy is null then 0
      else case when policy ? 'attemptTimeoutMs' then 2048 else 0 end
        | case when policy ? 'maxSignalCount' then 4096 else 0 end end,
    'runnable', 'unowned',
    case when is_delayed then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    'pending_first_attempt', schedule_id
  from fresh
),
cold as (
  insert into flowfabric.ff_exec_input (partition_key, execution_id, created_at_ms, delay_until_ms, deadline_at_ms,
    deadline_after_ms, queue_id, creator_identity, idempotency_key, payload, payload_encoding, policy)
  select partition_key, execution_id, now_ms, due_ms, deadline_at_ms, deadline_ms,
    queue_id, creator, idempotency_key, payload, payload_encoding, policy
  from fresh
),
ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, now_ms, execution_id
  from fresh
  where not is_delayed
),
-- end of writeFreshWith
tagged as (
  insert into flowfabric.ff_exec_tag (execution_id, created_at_ms, namespace, tag_key, tag_value)
  select f.execution_id, f.now_ms, f.namespace, t.key, t.value
  from fresh f
  cross join lateral jsonb_each_text(f.tags) t
  where f.tags is not null
),
keyed as (
  insert into flowfabric.ff_idempotency_key
    (namespace, scope_id, idempotency_key, execution_id, expires_at_ms, request_hash)
  select namespace, schedule_id, idempotency_key, execution_id, now_ms + $8, $7
  from fresh
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, generation, event_type, partition_key, namespace, actor,
    details)
  select now_ms, execution_id, 0, 'schedule_fired', partition_key, namespace, $9,
    jsonb_build_object('scheduleId', schedule_name, 'plannedAt', planned_at_ms)
  from fresh
)
select queue_id, is_delayed
from fresh
