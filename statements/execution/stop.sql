-- Made by `npm run sql`; do not edit.
-- execution.stop
-- src/engine/waiting/suspension/stop.ts: stopStatement
-- 246 lines, 18 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 ended_ats_ms int8[]
--   $3 actors text[]
-- columns:
--   pending_dispatch int4
--   ready_queue_ids int4[]

with leaving as materialized (
  select e.*, i.ended_at_ms as left_at_ms, i.actor as left_actor, 'cancel_requested' as left_reason,
    'released'::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    'attempt_interrupted'::flowfabric.ff_attempt_state as next_attempt_state,
    'cancelled'::flowfabric.ff_interruption as next_interruption,
    null::int8 as next_at_ms,
    0 as next_expiry_count,
    'interrupted' as attempt_outcome,
    null::text as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    'none'::flowfabric.ff_terminal_outcome as forced_outcome
  from unnest($1::uuid[], $2::int8[], $3::text[]) as i (execution_id, ended_at_ms, actor)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
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
-- from src/engine/transition/ending.ts: endExecutionsClosing
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
ended_ready as (
  delete from flowfabric.ff_ready r
  using ending n
  where n.eligibility_state = 'eligible_now'
    and r.queue_id = any (array[n.queue_id]) and r.neg_priority = -n.priority and r.rank = n.rank and r.execution_id = n.execution_id
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
  from (
    select execution_id, attempt_index, terminal_at_ms, terminal_outcome, ending_reason, ending_category, ending_error,
      ending_error_encoding, lease_id, lease_epoch, worker_id, worker_instance_id
    from ended_lease
    where is_continued
    union all
    select execution_id, attempt_index, terminal_at_ms, terminal_outcome, ending_reason, ending_category, ending_error,
      ending_error_encoding, null, null, null, null
    from ended
    where attempt_state_before = 'attempt_interrupted'
  ) d
  where a.execution_id = any (array[d.execution_id]) and a.attempt_index = d.attempt_index
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
    lease_id, lease_epoch, attempt_index, worker_instance_id, case when d.attached & 256 /* signals */ <> 0 then (
      select case when count(*) > 0 then jsonb_build_object('untakenSignals', count(*)) end
      from (
        -- from src/engine/transition/untaken-signals.ts: waitingByName
        select g.*
        from flowfabric.ff_signal g
        where g.execution_id = d.execution_id
          and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
          and g.generation = d.generation and g.taken_at_ms is null
        offset 0
        -- end of waitingByName
      ) g) end
  from ended_lease d
  union all
  select terminal_at_ms, execution_id, flow_id, generation, 'ended', terminal_outcome, partition_key, namespace,
    ending_actor, ending_reason, null, null, null,
    case when attempt_state_before <> 'pending_first_attempt' then attempt_index end, null,
    case when d.attached & 256 /* signals */ <> 0 then (
      select case when count(*) > 0 then jsonb_build_object('untakenSignals', count(*)) end
      from (
        -- from src/engine/transition/untaken-signals.ts: waitingByName
        select g.*
        from flowfabric.ff_signal g
        where g.execution_id = d.execution_id
          and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
          and g.generation = d.generation and g.taken_at_ms is null
        offset 0
        -- end of waitingByName
      ) g) end
  from ended d
  where not was_leased
),
ended_dispatch as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, parent_id, created_at_ms, outcome, has_children)
  select execution_id, generation, flow_id, parent_id, terminal_at_ms, terminal_outcome, attached & 64 /* children */ <> 0
  from ended
  where attached & 112 /* flow | parent | children */ <> 0
),
ended_suspension as (
  update flowfabric.ff_suspension_current s
  set closed_at_ms = d.terminal_at_ms, close_reason = case d.terminal_outcome
    when 'cancelled' then 'cancelled' when 'skipped' then 'cancelled' when 'expired' then 'expired'
    -- Its holder ended it, so that it was not suspended: what is still open was created ahead and never used.
    else 'never_committed' end, timeout_at_ms = null, wake_at_ms = null
  from ended d
  where d.attached & 2 /* suspension */ <> 0 and s.execution_id = any (array[d.execution_id]) and s.closed_at_ms is null
),
ended_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = d.terminal_at_ms, close_reason = case d.terminal_outcome
    when 'cancelled' then 'cancelled' when 'skipped' then 'cancelled' when 'expired' then 'expired'
    -- Its holder ended it, so that it was not suspended: what is still open was created ahead and never used.
    else 'never_committed' end, expires_at_ms = null
  from ended d
  where d.attached & 3 /* waitpoints | suspension */ <> 0 and p.execution_id = any (array[d.execution_id])
    and p.state <> 'closed'
),
-- end of endExecutionsClosing
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
select coalesce((select bit_or(attached & 112 /* flow | parent | children */) from ended), 0) as pending_dispatch,
  coalesce((select array_agg(distinct queue_id) from requeued), '{}'::int4[]) as ready_queue_ids
