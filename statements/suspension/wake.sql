-- Made by `npm run sql`; do not edit.
-- suspension.wake
-- src/engine/transition/wake.ts: wake
-- 62 lines, 6 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 interruptions text[]
--   $3 delays_ms int8[] with nulls
--   $4 woken_ats_ms int8[]
--   $5 actors text[]
--   $6 reasons text[] with nulls
--   $7 close_reasons text[]
--   $8 outcomes jsonb[] with nulls
--   $9 answered_keys jsonb[]
--   $10 taken_nos text[]
--   $11 channel text or null
--   $12 hint text or null
-- columns:
--   execution_id uuid
--   queue_id int4
--   delay_until_ms int8 or null

with waking as materialized (
  select execution_id, wake_interruption::flowfabric.ff_interruption as wake_interruption, wake_delay_ms, woken_at_ms,
    wake_actor, wake_reason, wake_close_reason, wake_outcome, wake_answered, wake_signal_nos::int8[] as wake_signal_nos
  from unnest($1::uuid[], $2::text[], $3::int8[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::jsonb[],
    $10::text[])
    as w (execution_id, wake_interruption, wake_delay_ms, woken_at_ms, wake_actor, wake_reason, wake_close_reason,
      wake_outcome, wake_answered, wake_signal_nos)
),
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
)
select execution_id, queue_id, delay_until_ms
from woken
where $11::text is null or pg_notify($11, $12) is not null
