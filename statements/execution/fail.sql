-- Made by `npm run sql`; do not edit.
-- execution.fail
-- src/engine/execution/fail.ts: failStatement
-- 250 lines, 21 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 reasons text[]
--   $8 categories text[]
--   $9 permanents bool[]
--   $10 retry_ins_ms int8[] with nulls
--   $11 errors bytea[] with nulls
--   $12 error_encodings text[] with nulls
-- columns:
--   ordinal int8
--   is_held bool
--   is_last_holder bool
--   lease_epoch int8
--   public_state text
--   found_attempt int4
--   interruption text
--   has_more bool
--   attempt_state text
--   delay_until_ms int8 or null
--   owes int4
--   ended_as text or null
--   next_at_ms int8 or null
--   retry_delay_ms int8 or null
--   queue_id int4 or null

with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[], $8::text[], $9::bool[],
    $10::int8[], $11::bytea[], $12::text[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, reason, category, permanent,
      retry_in_ms, error, error_encoding, ordinal)
),
-- from src/engine/transition/fence.ts: fencedPlain
target as materialized (
  select e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.attempt_state, e.interruption,
    e.public_state, e.attempt_index as found_attempt, e.attached, e.delay_until_ms, e.partition_key, e.ownership_state,
    e.eligibility_state, e.queue_id, e.priority, e.rank, e.retry_count, e.cancel_requested_at_ms, e.cancellation_reason, e.cancelled_by,
    e.stop_outcome, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.reason, i.category, i.permanent, i.retry_in_ms, i.error,
    i.error_encoding
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  order by i.execution_id
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
verdict as materialized (
  select t.*, k.now_ms, l.is_started,
    coalesce(t.lease_id = t.given_lease_id and t.lease_epoch = t.given_epoch, false) as is_last_holder,
    coalesce(t.lifecycle_phase = 'active' and t.lease_id = t.given_lease_id
      and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms and t.attached & 259 /* waitpoints | suspension | signals */ = 0,
      false) as is_held,
    coalesce(t.lifecycle_phase = 'active' and t.lease_id = t.given_lease_id
      and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms
      and not (t.attached & 259 /* waitpoints | suspension | signals */ = 0), false) as has_more
  from target t
  cross join clock k
  left join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
),
-- end of fencedPlain
decided as materialized (
  -- from src/engine/transition/retry.ts: shouldRetrySql
  select v.*, n.policy, coalesce(
    not (v.permanent)
    and v.category in ('transient', 'infra_crash', 'timeout')
    and v.retry_count + 1 < (n.policy #>> '{retry,attempts}')::int
    and coalesce(n.policy #> '{retry,categories}' ? v.category, true), false) as is_retried,
  -- end of shouldRetrySql
    -- from src/engine/transition/retry.ts: retryDelaySql
    coalesce(v.retry_in_ms, floor((1 - (n.policy #>> '{retry,backoff,jitter}')::float8 * random()) * case
      when n.policy #>> '{retry,backoff,type}' = 'fixed' then (n.policy #>> '{retry,backoff,delayMs}')::float8
      when (n.policy #>> '{retry,backoff,initialMs}')::float8 = 0 then 0
      when (n.policy #>> '{retry,backoff,multiplier}')::float8 = 1 then (n.policy #>> '{retry,backoff,initialMs}')::float8
      else least((n.policy #>> '{retry,backoff,maxMs}')::float8,
        (n.policy #>> '{retry,backoff,initialMs}')::float8 * power((n.policy #>> '{retry,backoff,multiplier}')::float8, least(v.retry_count,
          ceil(ln((n.policy #>> '{retry,backoff,maxMs}')::float8 / (n.policy #>> '{retry,backoff,initialMs}')::float8)
            / ln((n.policy #>> '{retry,backoff,multiplier}')::float8)))))
    end)::int8) as retry_delay_ms
    -- end of retryDelaySql
  from verdict v
  join flowfabric.ff_exec_input n on n.partition_key = any (array[v.partition_key]) and n.execution_id = any (array[v.execution_id])
),
judged as materialized (
  select d.*, d.now_ms as left_at_ms, d.actor as left_actor, d.reason as left_reason,
    'retried'::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    'pending_retry_attempt'::flowfabric.ff_attempt_state as next_attempt_state,
    'none'::flowfabric.ff_interruption as next_interruption,
    -- An execution that was asked to stop comes back only to clean up.
    case when d.retry_delay_ms > 0 and d.cancel_requested_at_ms is null then d.now_ms + d.retry_delay_ms end as next_at_ms,
    0 as next_expiry_count,
    'retry' as attempt_outcome,
    d.category as failure_category,
    case when d.is_retried then 'none' else 'failed' end::flowfabric.ff_terminal_outcome as forced_outcome,
    case when not d.is_retried then 'failed' when (d.cancel_requested_at_ms is not null and d.attached & 8192 /* compensation */ = 0
      and (d.stop_outcome is null or d.attached & 16384 /* onFailure */ = 0)) then 'cancelled' end as ended_as
  from decided d
),
leaving as materialized (
  select *
  from judged
  where is_held
),
-- from src/engine/transition/requeue.ts: leaveHolderBy
ending as materialized (
  select v.*,
    case when v.forced_outcome <> 'none' then v.forced_outcome
      else 'cancelled'::flowfabric.ff_terminal_outcome end as ending_outcome,
    case when v.forced_outcome = 'none' then coalesce(v.cancellation_reason, 'cancel_requested')
      else v.left_reason end as ending_reason,
    case when v.forced_outcome = 'none' then coalesce(v.cancelled_by, v.left_actor) else v.left_actor end as ending_actor,
    v.left_at_ms as ended_at_ms,
    null::bytea as ending_result,
    null::text as ending_encoding,
    v.failure_category as ending_category,
    v.error as ending_error,
    v.error_encoding as ending_error_encoding
  from leaving v
  where v.forced_outcome <> 'none' or (v.cancel_requested_at_ms is not null and v.attached & 8192 /* compensation */ = 0
    and (v.stop_outcome is null or v.attached & 16384 /* onFailure */ = 0))
),
-- from src/engine/transition/ending.ts: endHeld
ended as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'terminal',
    ownership_state = 'unowned',
    eligibility_state = 'not_applicable',
    interruption = 'none',
    terminal_outcome = n.ending_outcome,
    attempt_state = case
      when e.total_attempt_count > 0 then 'attempt_terminal'::flowfabric.ff_attempt_state
      when n.ending_outcome in ('cancelled', 'expired') then 'pending_first_attempt'::flowfabric.ff_attempt_state
      else 'none'::flowfabric.ff_attempt_state
    end,
    terminal_at_ms = greatest(n.ended_at_ms, e.last_mutation_at_ms),
    last_mutation_at_ms = greatest(n.ended_at_ms, e.last_mutation_at_ms),
    delay_until_ms = null,
    parked_at_ms = null,
    parked_state = null,
    deadline_at_ms = null,
    attempt_deadline_at_ms = null,
    cancel_deadline_at_ms = null,
    failure_reason = case when n.ending_outcome in ('failed', 'expired', 'skipped') then n.ending_reason end,
    cancellation_reason = case when n.ending_outcome = 'cancelled' then n.ending_reason end,
    cancelled_by = case when n.ending_outcome = 'cancelled' then n.ending_actor end
  from ending n
  where e.execution_id = any (array[n.execution_id])
  returning e.execution_id, n.ownership_state = 'leased' as was_leased, n.attempt_state as attempt_state_before,
    e.attached, e.partition_key, e.namespace, e.flow_id, e.parent_id, e.generation, e.attempt_index, e.terminal_outcome,
    e.terminal_at_ms, n.ending_reason, n.ending_actor, n.ending_result, n.ending_encoding, n.ending_category,
    n.ending_error, n.ending_error_encoding
),
ended_lease as (
  delete from flowfabric.ff_lease l
  using ended d
  where d.was_leased and l.execution_id = any (array[d.execution_id])
  returning l.is_continued, d.execution_id, d.attached, d.attempt_index, d.generation, d.partition_key, d.namespace, d.flow_id,
    d.terminal_outcome, d.terminal_at_ms, d.ending_reason, d.ending_actor, d.ending_category, d.ending_error,
    d.ending_error_encoding, l.lease_id, l.lease_epoch, l.expires_at_ms, l.attempt_type, l.attempt_started_at_ms,
    l.worker_id, l.worker_instance_id
),
ended_attempt as (
  insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
    started_at_ms, ended_at_ms, outcome, worker_id, worker_instance_id, failure_reason, failure_category, error,
    error_encoding)
  select execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch, attempt_started_at_ms,
    terminal_at_ms, terminal_outcome, worker_id, worker_instance_id, ending_reason, ending_category, ending_error,
    ending_error_encoding
  from ended_lease
  where not is_continued
),
ended_continued as (
  update flowfabric.ff_attempt a
  set ended_at_ms = d.terminal_at_ms, outcome = d.terminal_outcome, failure_reason = d.ending_reason,
    failure_category = d.ending_category, error = d.ending_error, error_encoding = d.ending_error_encoding,
    lease_id = coalesce(d.lease_id, a.lease_id), lease_epoch = coalesce(d.lease_epoch, a.lease_epoch),
    worker_id = coalesce(d.worker_id, a.worker_id),
    worker_instance_id = coalesce(d.worker_instance_id, a.worker_instance_id)
  from ended_lease d
  where d.is_continued and a.execution_id = any (array[d.execution_id]) and a.attempt_index = d.attempt_index
),
ended_result as (
  insert into flowfabric.ff_exec_result (execution_id, generation, attempt_index, created_at_ms, result, result_encoding)
  select execution_id, generation, attempt_index, terminal_at_ms, ending_result, ending_encoding
  from ended
  where ending_result is not null
),
ended_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, outcome, partition_key,
    namespace, actor, reason, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id, details)
  select terminal_at_ms, execution_id, flow_id, generation, 'ended'::flowfabric.ff_event_type, terminal_outcome,
    partition_key, namespace, ending_actor, ending_reason,
    -- Time ended it: the deadline, a timeout, or a lapse after which it may not go on.
    case when terminal_outcome = 'expired' or expires_at_ms < terminal_at_ms
        then 'expired'::flowfabric.ff_lease_effect else 'revoked'::flowfabric.ff_lease_effect end,
    lease_id, lease_epoch, attempt_index, worker_instance_id, null::jsonb
  from ended_lease d
),
ended_dispatch as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, parent_id, created_at_ms, outcome, has_children)
  select execution_id, generation, flow_id, parent_id, terminal_at_ms, terminal_outcome, attached & 64 /* children */ <> 0
  from ended
  where attached & 112 /* flow | parent | children */ <> 0
),
-- end of endHeld
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
    -- What a generation has registered is gone with it.
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
  where e.execution_id = any (array[v.execution_id]) and v.forced_outcome = 'none'
    and not (v.cancel_requested_at_ms is not null and v.attached & 8192 /* compensation */ = 0
      and (v.stop_outcome is null or v.attached & 16384 /* onFailure */ = 0))
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id,
    e.generation - case when v.next_attempt_state = 'pending_replay_attempt' then 1 else 0 end as generation,
    e.attempt_index, e.queue_id, e.priority, e.rank, e.eligibility_state, e.delay_until_ms, e.last_mutation_at_ms, v.left_actor,
    v.left_reason, v.leave_event, v.leave_effect, v.next_attempt_state, v.attempt_outcome, v.failure_category, v.error,
    v.error_encoding
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
)
-- end of leaveHolderBy
-- from src/engine/transition/fenced-answer.ts: fencedAnswer
select v.ordinal, v.is_held, v.has_more, v.is_last_holder, v.lease_epoch, v.public_state,
  v.found_attempt, v.attempt_state, v.interruption, v.delay_until_ms, v.attached & 112 /* flow | parent | children */ as owes, v.ended_as,
  v.next_at_ms, v.retry_delay_ms, v.queue_id
from judged v
-- end of fencedAnswer
