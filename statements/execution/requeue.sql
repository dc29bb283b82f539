-- Made by `npm run sql`; do not edit.
-- execution.requeue
-- src/engine/transition/requeue.ts: requeueStatement
-- 102 lines, 8 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 left_ats_ms int8[]
--   $3 actors text[]
--   $4 reasons text[] with nulls
--   $5 events text[]
--   $6 lease_effects text[]
--   $7 attempt_states text[]
--   $8 interruptions text[]
--   $9 next_ats_ms int8[] with nulls
--   $10 expiry_counts int4[] with nulls
--   $11 attempt_outcomes text[]
--   $12 categories text[] with nulls
--   $13 errors bytea[] with nulls
--   $14 error_encodings text[] with nulls
--   $15 stop_outcomes text[] with nulls
-- columns: none

with leaving as materialized (
  select i.execution_id, i.left_at_ms, i.left_actor, i.left_reason, i.leave_event::flowfabric.ff_event_type as leave_event,
    i.leave_effect::flowfabric.ff_lease_effect as leave_effect,
    i.next_attempt_state::flowfabric.ff_attempt_state as next_attempt_state,
    i.next_interruption::flowfabric.ff_interruption as next_interruption, i.next_at_ms, i.next_expiry_count,
    i.attempt_outcome, i.failure_category, i.error, i.error_encoding,
    i.asked_outcome::flowfabric.ff_terminal_outcome as asked_outcome, e.cancel_requested_at_ms, e.cancel_deadline_at_ms,
    e.stop_outcome, e.cancellation_reason, e.cancelled_by
  from unnest($1::uuid[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int8[],
    $10::int4[], $11::text[], $12::text[], $13::bytea[], $14::text[], $15::text[])
    as i (execution_id, left_at_ms, left_actor, left_reason, leave_event, leave_effect, next_attempt_state,
      next_interruption, next_at_ms, next_expiry_count, attempt_outcome, failure_category, error, error_encoding,
      asked_outcome)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
requeued as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'runnable',
    ownership_state = 'unowned',
    eligibility_state = case when v.next_at_ms > v.left_at_ms
        then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    attempt_state = v.next_attempt_state,
    interruption = v.next_interruption,
    delay_until_ms = case when v.next_at_ms > v.left_at_ms then v.next_at_ms end,
    attempt_deadline_at_ms = null,
    cancel_requested_at_ms = coalesce(v.cancel_requested_at_ms, case when v.asked_outcome is not null then v.left_at_ms end),
    cancel_deadline_at_ms = coalesce(v.cancel_deadline_at_ms,
      case when v.asked_outcome is not null then v.left_at_ms + 600000 end),
    stop_outcome = coalesce(v.stop_outcome, v.asked_outcome),
    cancellation_reason = case when v.asked_outcome is not null then v.left_reason else v.cancellation_reason end,
    cancelled_by = case when v.asked_outcome is not null then v.left_actor else v.cancelled_by end,
    deadline_at_ms = case when v.asked_outcome is null then e.deadline_at_ms end,
    -- The registrations of a generation end with it.
    attached = case when v.next_attempt_state = 'pending_replay_attempt'
        then e.attached & ~24576 /* compensation | onFailure */ else e.attached end,
    generation = e.generation + case when v.next_attempt_state = 'pending_replay_attempt' then 1 else 0 end,
    retry_count = case v.next_attempt_state
      when 'pending_replay_attempt' then 0
      when 'pending_retry_attempt' then e.retry_count + 1
      else e.retry_count end,
    lease_reclaim_count = case when v.next_attempt_state = 'pending_replay_attempt' then 0
      else e.lease_reclaim_count + case when v.next_interruption = 'lapsed' then 1 else 0 end end,
    consecutive_expiry_count = coalesce(v.next_expiry_count, e.consecutive_expiry_count),
    last_mutation_at_ms = greatest(v.left_at_ms, e.last_mutation_at_ms)
  from leaving v
  where e.execution_id = any (array[v.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id,
    e.generation - case when v.next_attempt_state = 'pending_replay_attempt' then 1 else 0 end as generation,
    e.attempt_index, e.queue_id, e.priority, e.rank, e.eligibility_state, e.delay_until_ms, e.last_mutation_at_ms, v.left_actor,
    v.left_reason, v.leave_event, v.leave_effect, v.next_attempt_state, v.attempt_outcome, v.failure_category, v.error,
    v.error_encoding, v.left_at_ms, v.asked_outcome is not null as is_asked
),
requeued_ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from requeued
  where eligibility_state = 'eligible_now'
),
requeued_lease as (
  delete from flowfabric.ff_lease l
  using requeued d
  where l.execution_id = any (array[d.execution_id])
  returning l.is_continued, d.execution_id, d.partition_key, d.namespace, d.flow_id, d.generation, d.attempt_index,
    d.delay_until_ms, d.last_mutation_at_ms, d.left_actor, d.left_reason, d.leave_event, d.leave_effect,
    d.next_attempt_state, d.attempt_outcome, d.failure_category, d.error, d.error_encoding, l.lease_id, l.lease_epoch,
    l.attempt_type, l.attempt_started_at_ms, l.worker_id, l.worker_instance_id
),
requeued_attempt as (
  insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
    started_at_ms, ended_at_ms, outcome, worker_id, worker_instance_id, failure_reason, failure_category, error,
    error_encoding, next_at_ms)
  select execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch, attempt_started_at_ms,
    case when next_attempt_state <> 'attempt_interrupted' then last_mutation_at_ms end, attempt_outcome, worker_id,
    worker_instance_id, left_reason, failure_category, error, error_encoding, delay_until_ms
  from requeued_lease
  where not is_continued
),
-- An attempt that was interrupted before has its record already.
requeued_continued as (
  update flowfabric.ff_attempt a
  set ended_at_ms = case when d.next_attempt_state <> 'attempt_interrupted' then d.last_mutation_at_ms end,
    outcome = d.attempt_outcome, lease_id = d.lease_id, lease_epoch = d.lease_epoch, worker_id = d.worker_id,
    worker_instance_id = d.worker_instance_id, failure_reason = d.left_reason, failure_category = d.failure_category,
    error = d.error, error_encoding = d.error_encoding, next_at_ms = d.delay_until_ms
  from requeued_lease d
  where d.is_continued and a.execution_id = any (array[d.execution_id]) and a.attempt_index = d.attempt_index
),
requeued_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id)
  select last_mutation_at_ms, execution_id, flow_id, generation, leave_event, partition_key, namespace, left_actor,
    left_reason, leave_effect, lease_id, lease_epoch, attempt_index, worker_instance_id
  from requeued_lease
),
asked_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, attempt_index, details)
  select q.last_mutation_at_ms, q.execution_id, q.flow_id, q.generation, 'cancel_requested', q.partition_key, q.namespace,
    q.left_actor, q.left_reason, q.attempt_index, jsonb_build_object('deadlineAt', q.left_at_ms + 600000)
  from requeued q
  where q.is_asked
)
select
