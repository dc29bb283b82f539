// The one way back from an ending. A CTE `reopening` comes before this fragment: one row for each execution, ended and locked
// earlier in the statement, with all columns of `ff_exec_core` as they were found. Besides:
//   now_ms            bigint, read from the clock after the lock
//   next_deadline_ms  bigint or null
//   is_blocked        boolean: it waits for its dependencies first
//   is_requested      boolean: a caller requested this very replay, so it counts
//   reopening_actor   text
//   reopening_reason  text or null
//
// It yields `reopened`, one row for each, and leaves: a new generation, in the ready table unless it is blocked; no grant, which
// was for the generation that has ended; one event.
import { attached } from '../../model/attached.ts'
import { hasMoreToClose } from './ending.ts'

export const reopenExecutions = `
reopened as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'runnable',
    eligibility_state = case when r.is_blocked then 'blocked_by_dependencies'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    attempt_state = 'pending_replay_attempt',
    terminal_outcome = 'none',
    terminal_at_ms = null,
    parked_at_ms = case when r.is_blocked then greatest(r.now_ms, r.last_mutation_at_ms) end,
    parked_state = case when r.is_blocked then 'waiting_children'::flowfabric.ff_public_state end,
    generation = r.generation + 1,
    replay_count = r.replay_count + r.is_requested::int4,
    retry_count = 0,
    lease_reclaim_count = 0,
    consecutive_expiry_count = 0,
    attached = r.attached & ~${attached.grant | attached.compensation | attached.onFailure | hasMoreToClose},
    deadline_at_ms = r.next_deadline_ms,
    cancel_requested_at_ms = null,
    stop_outcome = null,
    failure_reason = null,
    cancellation_reason = null,
    cancelled_by = null,
    last_mutation_at_ms = greatest(r.now_ms, r.last_mutation_at_ms)
  from reopening r
  where e.execution_id = any (array[r.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.queue_id, e.priority, e.rank,
    e.eligibility_state, e.last_mutation_at_ms, r.reopening_actor, r.reopening_reason, r.terminal_outcome as old_outcome,
    r.attempt_index as old_attempt_index
),
reopened_ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from reopened
  where eligibility_state = 'eligible_now'
),
reopened_grant as (
  delete from flowfabric.ff_grant g
  using reopened d
  where g.execution_id = any (array[d.execution_id])
),
reopened_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'replayed', partition_key, namespace, reopening_actor,
    reopening_reason, jsonb_build_object('outcome', old_outcome, 'attemptIndex', old_attempt_index)
  from reopened
)`

/** From `ff_exec_input n` and a `now_ms`: a deadline that was given as a duration restarts; a fixed one that has passed is dropped. */
export function nextDeadlineSql(nowMs: string): string {
  return `case when n.deadline_after_ms is not null then ${nowMs} + n.deadline_after_ms
      when n.deadline_at_ms > ${nowMs} then n.deadline_at_ms end`
}
