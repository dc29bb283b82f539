-- Made by `npm run sql`; do not edit.
-- execution.resume
-- src/engine/execution/resume.ts: resumeStatement
-- 99 lines, 12 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 actors text[]
--   $5 delay_ms int8[]
--   $6 reason text[] with nulls
--   $7 request_id text[] with nulls
--   $8 may_repeat bool[]
-- columns:
--   ordinal int8
--   queue_id int4
--   public_state text
--   delay_until_ms int8 or null
--   repeated jsonb or null

-- from src/engine/kernel/set-request.ts: inputText
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::text[], $8::bool[])
    with ordinality as i (execution_id, partition_key, namespace, actor, delay_ms, reason, request_id, may_repeat, ordinal)
),
-- end of inputText
-- from src/engine/transition/operator-set.ts: lockedTarget
target as materialized (
  select e.*, i.ordinal, i.actor, i.delay_ms, i.reason, i.request_id, i.may_repeat
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
),
-- end of lockedTarget
-- from src/engine/execution/request-memory.ts: repeatedRequests
repeated as materialized (
  select t.ordinal, r.answer
  from target t
  join flowfabric.ff_request r
    on r.execution_id = any (array[t.execution_id]) and r.request_id = any (array[t.request_id])
  where t.may_repeat
),
-- end of repeatedRequests
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
waking as materialized (
  select t.execution_id, 'signalled'::flowfabric.ff_interruption as wake_interruption, t.delay_ms as wake_delay_ms,
    k.now_ms as woken_at_ms, t.actor as wake_actor, t.reason as wake_reason, 'resumed' as wake_close_reason,
    null::jsonb as wake_outcome, null::jsonb as wake_answered, null::int8[] as wake_signal_nos
  from target t
  cross join clock k
  where t.lifecycle_phase = 'suspended' and not t.ordinal in (select ordinal from repeated)
),
-- from src/engine/transition/wake.ts: wakeSuspended
woken as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'runnable',
    eligibility_state = case when w.wake_delay_ms > 0 then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    interruption = w.wake_interruption,
    delay_until_ms = case when w.wake_delay_ms > 0 then w.woken_at_ms + w.wake_delay_ms end,
    parked_at_ms = null,
    parked_state = null,
    attached = e.attached & ~2 /* suspension */,
    last_mutation_at_ms = greatest(w.woken_at_ms, e.last_mutation_at_ms)
  from waking w
  where e.execution_id = any (array[w.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, e.queue_id, e.priority,
    e.rank, e.eligibility_state, e.delay_until_ms, e.last_mutation_at_ms, w.wake_actor, w.wake_reason,
    w.wake_close_reason, w.wake_outcome, w.wake_answered, w.wake_signal_nos
),
woken_ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, true, rank, execution_id
  from woken
  where eligibility_state = 'eligible_now'
),
woken_suspension as (
  update flowfabric.ff_suspension_current s
  set closed_at_ms = d.last_mutation_at_ms, close_reason = d.wake_close_reason, timeout_at_ms = null, wake_at_ms = null,
    outcome = d.wake_outcome, signal_nos = d.wake_signal_nos
  from woken d
  where s.execution_id = any (array[d.execution_id])
  returning s.execution_id, s.suspension_id, s.closed_at_ms, s.close_reason, s.keeps_waitpoints, d.wake_answered
),
woken_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = case when (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true)
      then 'pending'::flowfabric.ff_waitpoint_state
    else 'closed'::flowfabric.ff_waitpoint_state end,
    suspension_id = case when not (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true) then p.suspension_id end,
    closed_at_ms = case when not (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true) then s.closed_at_ms end,
    close_reason = case when not (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true) then s.close_reason end
  from woken_suspension s
  where p.execution_id = any (array[s.execution_id]) and p.suspension_id = s.suspension_id and p.state = 'active'
),
woken_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor,
    reason, attempt_index, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'resumed', partition_key, namespace, wake_actor,
    wake_reason, attempt_index,
    jsonb_strip_nulls(jsonb_build_object('closeReason', wake_close_reason, 'delayUntil', delay_until_ms,
      'outcome', wake_outcome))
  from woken
),
-- end of wakeSuspended
-- from src/engine/execution/request-memory.ts: rememberRequests
remembered as (
  insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
  select t.execution_id, t.request_id, jsonb_build_object('delayUntil', case when t.delay_ms > 0 then k.now_ms + t.delay_ms end), k.now_ms
  -- from src/engine/execution/resume.ts: resumeStatement
  from target t
  cross join clock k
  where t.execution_id in (select execution_id from waking)
  -- end of resumeStatement
),
-- end of rememberRequests
answered as materialized (
  select t.ordinal, t.queue_id, t.public_state, case when t.delay_ms > 0 then k.now_ms + t.delay_ms end as delay_until_ms,
    (select r.answer from repeated r where r.ordinal = t.ordinal) as repeated
  from target t
  cross join clock k
)
select v.ordinal, v.queue_id, v.public_state, v.delay_until_ms, v.repeated
from answered v
