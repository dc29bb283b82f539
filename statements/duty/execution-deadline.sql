-- Made by `npm run sql`; do not edit.
-- duty.execution-deadline
-- src/engine/duties/execution-deadline.ts: expire
-- 261 lines, 23 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
-- columns:
--   seen int8
--   processed int8
--   ready_queue_ids int4[]
--   owes int4
--   called_off_ids uuid[]

-- from src/engine/kernel/candidate.ts: candidates
with candidate as materialized (
  (
    -- from src/engine/duties/execution-deadline.ts: due
    select e.execution_id, e.xmin as seen_xmin
    from flowfabric.ff_exec_core e
    where e.deadline_at_ms < flowfabric.ff_now_ms()
      -- from src/engine/kernel/candidate.ts: inScope
      and cardinality($5::uuid[]) = 0
      and ($2::text is null or e.namespace = $2)
      -- from src/engine/kernel/scope.ts: hasTag
      and ($3::text is null or $4::text = (
        select t.tag_value
        from flowfabric.ff_exec_tag t
        where t.execution_id = e.execution_id and t.tag_key = $3))
      -- end of hasTag
      and not exists (
        select from flowfabric.ff_set_aside s
        where s.duty = 'execution-deadline' and s.subject_id = any (array[e.execution_id]) and s.retry_at_ms > flowfabric.ff_now_ms())
      -- end of inScope
    order by e.deadline_at_ms, e.execution_id
    limit $1)
    -- end of due
  union all
  select e.execution_id, e.xmin
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[o.execution_id])
),
-- end of candidates
-- from src/engine/kernel/candidate.ts: lockedExecutions
target as materialized (
  select e.*
  from candidate c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  order by c.execution_id
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
-- end of lockedExecutions
asking as materialized (
  select k.*, k.now_ms + 600000 as asked_until_ms, 'expired'::flowfabric.ff_terminal_outcome as asked_outcome,
    'execution_deadline' as asked_reason, 'execution-deadline' as asked_actor
  from looked k
  where k.deadline_at_ms < k.now_ms and k.attached & 24576 /* compensation | onFailure */ <> 0 and k.cancel_requested_at_ms is null
),
-- from src/engine/transition/ask-to-stop.ts: askToStop
asked as (
  update flowfabric.ff_exec_core e
  set cancel_requested_at_ms = coalesce(a.cancel_requested_at_ms, a.now_ms),
    cancel_deadline_at_ms = a.asked_until_ms,
    stop_outcome = case when a.cancel_requested_at_ms is null then a.asked_outcome else a.stop_outcome end,
    cancellation_reason = coalesce(a.cancellation_reason, a.asked_reason),
    cancelled_by = coalesce(a.cancelled_by, a.asked_actor),
    -- From now on the time for the clean-up counts.
    deadline_at_ms = case when a.attached & 8192 /* compensation */ <> 0 or a.asked_outcome is not null then null
      else e.deadline_at_ms end,
    lifecycle_phase = case when (a.cancel_requested_at_ms is null and a.lifecycle_phase <> 'active')
        then 'runnable'::flowfabric.ff_lifecycle_phase else e.lifecycle_phase end,
    eligibility_state = case when (a.cancel_requested_at_ms is null and a.lifecycle_phase <> 'active')
        then 'eligible_now'::flowfabric.ff_eligibility_state else e.eligibility_state end,
    interruption = case when a.lifecycle_phase = 'suspended' then 'cancelled'::flowfabric.ff_interruption
      else e.interruption end,
    delay_until_ms = case when not (a.cancel_requested_at_ms is null and a.lifecycle_phase <> 'active') then e.delay_until_ms end,
    parked_at_ms = case when not (a.cancel_requested_at_ms is null and a.lifecycle_phase <> 'active') then e.parked_at_ms end,
    parked_state = case when not (a.cancel_requested_at_ms is null and a.lifecycle_phase <> 'active') then e.parked_state end,
    attached = case when a.lifecycle_phase = 'suspended' then e.attached & ~2 /* suspension */ else e.attached end,
    last_mutation_at_ms = greatest(a.now_ms, e.last_mutation_at_ms)
  from asking a
  where e.execution_id = any (array[a.execution_id])
  returning e.execution_id, e.flow_id, e.generation, e.partition_key, e.namespace, e.lease_id, e.lease_epoch,
    e.attempt_index, e.last_mutation_at_ms, e.queue_id, e.priority, e.rank, e.public_state,
    (a.cancel_requested_at_ms is null and a.lifecycle_phase <> 'active') as is_moved, a.attached as attached_before, a.asked_actor,
    a.asked_reason, a.asked_until_ms
),
asked_ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, public_state = 'resumable', rank, execution_id
  from asked
  where is_moved
  -- It may have been ready.
  on conflict do nothing
  returning queue_id
),
asked_suspension as (
  update flowfabric.ff_suspension_current s
  set closed_at_ms = d.last_mutation_at_ms, close_reason = 'cancelled', timeout_at_ms = null, wake_at_ms = null
  from asked d
  where d.is_moved and d.attached_before & 2 /* suspension */ <> 0 and s.execution_id = any (array[d.execution_id])
    and s.closed_at_ms is null
),
asked_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = d.last_mutation_at_ms, close_reason = 'cancelled', expires_at_ms = null
  from asked d
  where d.is_moved and d.attached_before & 3 /* waitpoints | suspension */ <> 0
    and p.execution_id = any (array[d.execution_id]) and p.state <> 'closed'
),
asked_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, lease_id, lease_epoch, attempt_index, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'cancel_requested', partition_key, namespace, asked_actor,
    asked_reason, lease_id, lease_epoch, attempt_index, jsonb_build_object('deadlineAt', asked_until_ms)
  from asked
),
-- end of askToStop
ending as materialized (
  select k.*, 'expired'::flowfabric.ff_terminal_outcome as ending_outcome, 'execution_deadline' as ending_reason,
    'execution-deadline' as ending_actor, k.now_ms as ended_at_ms, null::bytea as ending_result, null::text as ending_encoding,
    null::text as ending_category, null::bytea as ending_error, null::text as ending_error_encoding
  from looked k
  where k.deadline_at_ms < k.now_ms and not (k.attached & 24576 /* compensation | onFailure */ <> 0 and k.cancel_requested_at_ms is null)
),
acted as materialized (
  select execution_id, ownership_state
  from looked
  where deadline_at_ms < now_ms
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
-- from src/engine/kernel/candidate.ts: takenUp
taken_up as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'execution-deadline'
    and (s.subject_id in (select execution_id from acted)
      or s.retry_at_ms < flowfabric.ff_now_ms() - 3600000)
)
-- end of takenUp
-- from src/engine/kernel/candidate.ts: sweptOwing
select (select count(*) from candidate) as seen,
  (select count(*) from acted) as processed,
  coalesce((select array_agg(distinct queue_id) from asked_ready), '{}'::int4[]) as ready_queue_ids,
  coalesce((select bit_or(attached & 112 /* flow | parent | children */) from ended), 0) as owes,
  array(select execution_id from acted where ownership_state = 'leased') as called_off_ids
-- end of sweptOwing
