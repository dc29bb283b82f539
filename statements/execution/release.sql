-- Made by `npm run sql`; do not edit.
-- execution.release
-- src/engine/execution/give-back.ts: giveBackStatement
-- 236 lines, 20 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 delays_ms int8[] with nulls
--   $8 delays_until_ms int8[] with nulls
--   $9 reasons text[] with nulls
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
--   is_cancelled bool or null
--   next_at_ms int8 or null
--   queue_id int4 or null

with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::int8[], $8::int8[], $9::text[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, delay_ms, until_ms, reason, ordinal)
),
-- from src/engine/transition/fence.ts: fencedPlain
target as materialized (
  select e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.attempt_state, e.interruption,
    e.public_state, e.attempt_index as found_attempt, e.attached, e.delay_until_ms, e.partition_key, e.ownership_state,
    e.eligibility_state, e.queue_id, e.priority, e.rank, e.retry_count, e.cancel_requested_at_ms, e.cancellation_reason, e.cancelled_by,
    e.stop_outcome, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.delay_ms, i.until_ms, i.reason
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
judged as materialized (
  select v.*, v.now_ms as left_at_ms, v.actor as left_actor, v.reason as left_reason,
    'released'::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    'attempt_interrupted'::flowfabric.ff_attempt_state as next_attempt_state,
    'released'::flowfabric.ff_interruption as next_interruption,
    case when coalesce(v.until_ms, v.now_ms + v.delay_ms) > v.now_ms
        then coalesce(v.until_ms, v.now_ms + v.delay_ms) end as next_at_ms,
    -- from src/engine/transition/expiry-count.ts: hasRecordedSql
    case when v.is_started or coalesce((
      select s.lease_epoch
      from flowfabric.ff_step s
      where s.execution_id = v.execution_id and s.step_no > 0
      order by s.step_no desc
      limit 1) = v.lease_epoch, false) then 0 end as next_expiry_count,
    -- end of hasRecordedSql
    (v.cancel_requested_at_ms is not null and v.attached & 8192 /* compensation */ = 0
      and (v.stop_outcome is null or v.attached & 16384 /* onFailure */ = 0)) as is_cancelled,
    'released' as attempt_outcome,
    null::text as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    'none'::flowfabric.ff_terminal_outcome as forced_outcome
  from verdict v
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
  v.found_attempt, v.attempt_state, v.interruption, v.delay_until_ms, v.attached & 112 /* flow | parent | children */ as owes,
  v.is_cancelled, v.next_at_ms, v.queue_id
from judged v
-- end of fencedAnswer
