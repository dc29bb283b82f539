-- Made by `npm run sql`; do not edit.
-- execution.cancel-held
-- src/engine/execution/cancel-held.ts: cancelHeldStatement
-- 196 lines, 16 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 reasons text[] with nulls
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

with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, reason, ordinal)
),
-- from src/engine/transition/fence.ts: fencedWhole
target as materialized (
  select e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.attempt_state, e.interruption,
    e.public_state, e.attempt_index as found_attempt, e.attached, e.delay_until_ms, e.partition_key, e.ownership_state,
    e.eligibility_state, e.queue_id, e.priority, e.rank, e.retry_count, e.cancel_requested_at_ms, e.cancellation_reason, e.cancelled_by,
    e.stop_outcome, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.reason
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[i.execution_id]) and seen.xmin = e.xmin
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
      and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms and true, false) as is_held,
    coalesce(t.lifecycle_phase = 'active' and t.lease_id = t.given_lease_id
      and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms and not (true), false) as has_more
  from target t
  cross join clock k
  left join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
),
-- end of fencedWhole
ending as materialized (
  select v.*, coalesce(v.stop_outcome, 'cancelled'::flowfabric.ff_terminal_outcome) as ending_outcome,
    coalesce(v.reason, v.cancellation_reason) as ending_reason, coalesce(v.cancelled_by, v.actor) as ending_actor, v.now_ms as ended_at_ms,
    null::bytea as ending_result, null::text as ending_encoding, null::text as ending_category,
    null::bytea as ending_error, null::text as ending_error_encoding
  from verdict v
  where v.is_held
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
-- from src/engine/transition/fenced-answer.ts: writtenAnswer
written as materialized (
  select count(*) = cardinality($1::uuid[]) as is_whole, bit_or(attached & 112 /* flow | parent | children */) as owes
  from verdict
  where is_held
)
select 0::int8 as ordinal, true as is_held, false as has_more, true as is_last_holder, null::int8 as lease_epoch,
  null::flowfabric.ff_public_state as public_state, null::int4 as found_attempt, null::flowfabric.ff_attempt_state as attempt_state,
  null::flowfabric.ff_interruption as interruption, null::int8 as delay_until_ms, owes
from written
where is_whole
union all
select v.ordinal, v.is_held, v.has_more, v.is_last_holder, v.lease_epoch, v.public_state,
  v.found_attempt, v.attempt_state, v.interruption, v.delay_until_ms, v.attached & 112 /* flow | parent | children */ as owes
from verdict v
where not (select is_whole from written)
-- end of writtenAnswer
