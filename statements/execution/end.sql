-- Made by `npm run sql`; do not edit.
-- execution.end
-- src/engine/transition/end.ts: endStatement
-- 144 lines, 11 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 outcomes text[]
--   $3 reasons text[] with nulls
--   $4 actors text[]
--   $5 ended_ats_ms int8[]
--   $6 categories text[] with nulls
--   $7 errors bytea[] with nulls
--   $8 error_encodings text[] with nulls
--   $9 close_reasons text[]
-- columns:
--   pending_dispatch int4

with ending as materialized (
  select i.execution_id, e.ownership_state, e.eligibility_state, e.attempt_state, e.queue_id, e.priority, e.rank,
    i.outcome::flowfabric.ff_terminal_outcome as ending_outcome, i.reason as ending_reason, i.actor as ending_actor,
    i.ended_at_ms, null::bytea as ending_result, null::text as ending_encoding, i.category as ending_category,
    i.error as ending_error, i.error_encoding as ending_error_encoding, i.close_reason as ending_close_reason
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int8[], $6::text[], $7::bytea[], $8::text[], $9::text[])
    as i (execution_id, outcome, reason, actor, ended_at_ms, category, error, error_encoding, close_reason)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
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
  returning e.execution_id, n.ownership_state = 'leased' as was_leased, n.attempt_state as attempt_state_before, n.ending_close_reason,
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
    -- Time ended it: the deadline, a timeout, or an expiry after which it may not continue.
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
  set closed_at_ms = d.terminal_at_ms, close_reason = d.ending_close_reason, timeout_at_ms = null, wake_at_ms = null
  from ended d
  where d.attached & 2 /* suspension */ <> 0 and s.execution_id = any (array[d.execution_id]) and s.closed_at_ms is null
),
ended_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = d.terminal_at_ms, close_reason = d.ending_close_reason, expires_at_ms = null
  from ended d
  where d.attached & 3 /* waitpoints | suspension */ <> 0 and p.execution_id = any (array[d.execution_id])
    and p.state <> 'closed'
)
-- end of endExecutionsClosing
select coalesce((select bit_or(attached & 112 /* flow | parent | children */) from ended), 0) as pending_dispatch
