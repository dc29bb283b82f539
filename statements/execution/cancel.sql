-- Made by `npm run sql`; do not edit.
-- execution.cancel
-- src/engine/execution/cancel.ts: cancelSet
-- 256 lines, 22 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 reasons text[] with nulls
--   $5 actors text[]
--   $6 graces_ms int8[]
--   $7 deadlines_ms int8[] with nulls
--   $8 forces bool[]
-- columns:
--   ordinal int8
--   public_state text
--   asked_until_ms int8 or null
--   owes int4
--   called_off_id uuid or null
--   ready_queue_id int4 or null

with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::text[], $6::int8[], $7::int8[], $8::bool[])
    with ordinality as i (execution_id, partition_key, namespace, reason, actor, grace_ms, given_deadline_ms, is_forced, ordinal)
),
found as materialized (
  select i.*, e.xmin as seen_xmin
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
),
target as materialized (
  select e.*, f.ordinal, f.reason, f.actor, f.grace_ms, f.given_deadline_ms, f.is_forced
  from found f
  join flowfabric.ff_exec_core e on e.execution_id = any (array[f.execution_id]) and e.xmin = f.seen_xmin
  order by f.execution_id
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
  select t.*, c.now_ms,
    case when t.is_forced or t.lifecycle_phase = 'terminal' then null
      when t.attached & 8192 /* compensation */ <> 0 then least(t.cancel_deadline_at_ms,
        c.now_ms + coalesce(t.given_deadline_ms, nullif(t.grace_ms, 0), 600000))
      when t.lifecycle_phase = 'active' and t.grace_ms > 0
        then least(t.cancel_deadline_at_ms, c.now_ms + t.grace_ms) end as asked_until_ms
  from target t
  cross join clock c
),
asking as materialized (
  select k.*, null::flowfabric.ff_terminal_outcome as asked_outcome, k.reason as asked_reason, k.actor as asked_actor
  from looked k
  where k.asked_until_ms is not null and k.asked_until_ms is distinct from k.cancel_deadline_at_ms
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
  select k.*, 'cancelled'::flowfabric.ff_terminal_outcome as ending_outcome,
    coalesce(k.reason, k.cancellation_reason) as ending_reason, k.actor as ending_actor, k.now_ms as ended_at_ms,
    null::bytea as ending_result, null::text as ending_encoding, null::text as ending_category,
    null::bytea as ending_error, null::text as ending_error_encoding
  from looked k
  where k.lifecycle_phase <> 'terminal' and k.asked_until_ms is null
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
)
-- end of endExecutionsClosing
select k.ordinal, k.public_state, k.asked_until_ms,
  case when k.lifecycle_phase <> 'terminal' and k.asked_until_ms is null then k.attached & 112 /* flow | parent | children */
    else 0 end as owes, case when k.public_state = 'active' then k.execution_id end as called_off_id,
  case when k.asked_until_ms is not null and k.cancel_requested_at_ms is null and k.lifecycle_phase <> 'active'
      then k.queue_id end as ready_queue_id
from looked k
union all
select i.ordinal, null, null, 0, null, null
from input i
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
where i.ordinal not in (select ordinal from target)
