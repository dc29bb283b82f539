// The one terminal routine. Nothing else writes an ending: complete, fail for good, cancel, expire, skip, a suspension's
// timeout and the reclaim cap all put a CTE `ending` before this fragment.
//
// `ending` has one row for each execution that ends, locked earlier in the statement or its transaction, with these columns
// of `ff_exec_core` as they were found: execution_id, ownership_state, eligibility_state, attempt_state, queue_id, priority,
// rank. The row must be the version that the statement's snapshot has too: the rows that come with a later version (a lease,
// a ready row) are not visible here and would stay behind. Besides:
//   ending_outcome  ff_terminal_outcome, never 'none'
//   ending_reason   text or null
//   ending_actor    text
//   ended_at_ms     bigint, read from the clock after the lock
//   ending_result   bytea or null, with ending_encoding text or null
//   ending_category text or null, with ending_error bytea and ending_error_encoding text: how the attempt failed
//
// It yields `ended`, one row for each, and leaves: no ready row, no lease, no timer; the attempt's record closed; the result
// stored; one event, which is also the lease's end when there was a lease; one dispatch row when others depend on it.
// The event reads from the update's `returning`: the transaction has its xid before the event has its id, on which the
// readers of the log rely.
import { attached } from '../../model/attached.ts'
import { pendingDispatchSql } from '../kernel/pending-dispatch.ts'
import { waitingByName } from './untaken-signals.ts'

/** The bits of `attached` for which an ending closes more than the execution itself. A completion without any of them is shorter. */
export const hasMoreToClose = attached.waitpoints | attached.suspension | attached.signals

interface EndRows {
  /** Finds `ff_exec_core e` for a row of `ending n`. */
  readonly where: string
  /** The columns of `ending n` that the rest of the routine needs besides. */
  readonly carrying: string
}

function endRows({ where, carrying }: EndRows): string {
  return `
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
  where ${where}
  returning e.execution_id, ${carrying},
    e.attached, e.partition_key, e.namespace, e.flow_id, e.parent_id, e.generation, e.attempt_index, e.terminal_outcome,
    e.terminal_at_ms, n.ending_reason, n.ending_actor, n.ending_result, n.ending_encoding, n.ending_category,
    n.ending_error, n.ending_error_encoding
)`
}

const beforeEnding = `n.ownership_state = 'leased' as was_leased, n.attempt_state as attempt_state_before`

/** `carried` columns of `ending n` are columns of `ended` too. */
function endFound(...carried: readonly string[]): string {
  return endRows({
    where: 'e.execution_id = any (array[n.execution_id])',
    carrying: [beforeEnding, ...carried].join(', '),
  })
}

/** The record of an attempt that ran through, from `ended` or `ended_lease` with the lease's columns. */
function insertAttempt(from: string): string {
  return `
  insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
    started_at_ms, ended_at_ms, outcome, worker_id, worker_instance_id, failure_reason, failure_category, error,
    error_encoding)
  select execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch, attempt_started_at_ms,
    terminal_at_ms, terminal_outcome, worker_id, worker_instance_id, ending_reason, ending_category, ending_error,
    ending_error_encoding
  from ${from}
  where not is_continued`
}

/** Deletes the lease, and writes the record of an attempt that ran through. */
const endLeases = `
ended_lease as (
  delete from flowfabric.ff_lease l
  using ended d
  where d.was_leased and l.execution_id = any (array[d.execution_id])
  returning l.is_continued, d.execution_id, d.attached, d.attempt_index, d.generation, d.partition_key, d.namespace, d.flow_id,
    d.terminal_outcome, d.terminal_at_ms, d.ending_reason, d.ending_actor, d.ending_category, d.ending_error,
    d.ending_error_encoding, l.lease_id, l.lease_epoch, l.expires_at_ms, l.attempt_type, l.attempt_started_at_ms,
    l.worker_id, l.worker_instance_id
),
ended_attempt as (${insertAttempt('ended_lease')}
)`

// An attempt that was interrupted has its record already.
const closeRecord = `
  update flowfabric.ff_attempt a
  set ended_at_ms = d.terminal_at_ms, outcome = d.terminal_outcome, failure_reason = d.ending_reason,
    failure_category = d.ending_category, error = d.ending_error, error_encoding = d.ending_error_encoding,
    lease_id = coalesce(d.lease_id, a.lease_id), lease_epoch = coalesce(d.lease_epoch, a.lease_epoch),
    worker_id = coalesce(d.worker_id, a.worker_id),
    worker_instance_id = coalesce(d.worker_instance_id, a.worker_instance_id)`

const storeResults = `
ended_result as (
  insert into flowfabric.ff_exec_result (execution_id, generation, attempt_index, created_at_ms, result, result_encoding)
  select execution_id, generation, attempt_index, terminal_at_ms, ending_result, ending_encoding
  from ended
  where ending_result is not null
)`

const insertEvent = `
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, outcome, partition_key,
    namespace, actor, reason, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id, details)`

/** `details`, from `ended_lease d`, go into the event; `from` may be `ended`, with the lease's columns. */
function eventOfLeased(details: string, from = 'ended_lease'): string {
  return `
  select terminal_at_ms, execution_id, flow_id, generation, 'ended'::flowfabric.ff_event_type, terminal_outcome,
    partition_key, namespace, ending_actor, ending_reason,
    -- Time ended it: the deadline, a timeout, or an expiry after which it may not continue.
    case when terminal_outcome = 'expired' or expires_at_ms < terminal_at_ms
      then 'expired'::flowfabric.ff_lease_effect else 'revoked'::flowfabric.ff_lease_effect end,
    lease_id, lease_epoch, attempt_index, worker_instance_id, ${details}
  from ${from} d`
}

const oweDispatch = `
ended_dispatch as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, parent_id, created_at_ms, outcome, has_children)
  select execution_id, generation, flow_id, parent_id, terminal_at_ms, terminal_outcome, attached & ${attached.children} <> 0
  from ended
  where ${pendingDispatchSql('attached')} <> 0
)`

/**
 * For executions whose lease the statement has deleted itself, as a completion does. Instead of the columns of `ff_exec_core`,
 * `ending` has `execution_row`, the position of the locked row, and the columns of the lease. So the statement reads each row
 * once.
 */
export const endReleased = endReleasedWith('null::jsonb')

function endReleasedWith(details: string): string {
  return `${endRows({
    where: 'e.ctid = n.execution_row',
    carrying: `n.is_continued, n.lease_id, n.lease_epoch, n.expires_at_ms, n.attempt_type, n.attempt_started_at_ms, n.worker_id,
    n.worker_instance_id`,
  })},
ended_attempt as (${insertAttempt('ended')}
),
ended_continued as (${closeRecord}
  from ended d
  where d.is_continued and a.execution_id = any (array[d.execution_id]) and a.attempt_index = d.attempt_index
),${storeResults},
ended_event as (${insertEvent}${eventOfLeased(details, 'ended')}
),${oweDispatch}`
}

/** For executions in any state. `details`, from `ended d` or `ended_lease d`, go into the event. */
function endExecutionsSaying(details: string, carried: readonly string[]): string {
  return `${endFound(...carried)},
ended_ready as (
  delete from flowfabric.ff_ready r
  using ending n
  where n.eligibility_state = 'eligible_now'
    and r.queue_id = any (array[n.queue_id]) and r.neg_priority = -n.priority and r.rank = n.rank and r.execution_id = n.execution_id
),${endLeases},
ended_continued as (${closeRecord}
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
),${storeResults},
ended_event as (${insertEvent}${eventOfLeased(details)}
  union all
  select terminal_at_ms, execution_id, flow_id, generation, 'ended', terminal_outcome, partition_key, namespace,
    ending_actor, ending_reason, null, null, null,
    case when attempt_state_before <> 'pending_first_attempt' then attempt_index end, null, ${details}
  from ended d
  where not was_leased
),${oweDispatch}`
}

// Signals that were sent by name and that no condition has taken: no code will receive them now, and the event reports it.
const untakenSignals = `case when d.attached & ${attached.signals} <> 0 then (
      select case when count(*) > 0 then jsonb_build_object('untakenSignals', count(*)) end
      from (${waitingByName('d')}
      ) g) end`

/**
 * The same for executions that may have waitpoints or signals. They were leased, so they had no open suspension: a waitpoint that is
 * still open was created ahead and never used.
 */
export const endReleasedWhole = `${endReleasedWith(untakenSignals)},${closeWaitpoints(`'never_committed'`)}`

/** The same for executions that may have waitpoints, a suspension or signals: these close with them. */
export const endExecutionsWhole = endExecutionsClosing(`case d.terminal_outcome
    when 'cancelled' then 'cancelled' when 'skipped' then 'cancelled' when 'expired' then 'expired'
    -- Its holder ended it, so it was not suspended: a waitpoint that is still open was created ahead and never used.
    else 'never_committed' end`)

/** `closeReason`, from `ended d`, is why suspension and waitpoints close; `carried` columns of `ending n` may be named in it. */
export function endExecutionsClosing(closeReason: string, ...carried: readonly string[]): string {
  return `${endExecutionsSaying(untakenSignals, carried)},
ended_suspension as (
  update flowfabric.ff_suspension_current s
  set closed_at_ms = d.terminal_at_ms, close_reason = ${closeReason}, timeout_at_ms = null, wake_at_ms = null
  from ended d
  where d.attached & ${attached.suspension} <> 0 and s.execution_id = any (array[d.execution_id]) and s.closed_at_ms is null
),${closeWaitpoints(closeReason)}`
}

function closeWaitpoints(closeReason: string): string {
  return `
ended_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = d.terminal_at_ms, close_reason = ${closeReason}, expires_at_ms = null
  from ended d
  where d.attached & ${attached.waitpoints | attached.suspension} <> 0 and p.execution_id = any (array[d.execution_id])
    and p.state <> 'closed'
)`
}
