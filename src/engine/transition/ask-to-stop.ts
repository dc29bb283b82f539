// An execution that has registered a compensation is asked to stop before it ends, wherever it is: its waits close, it becomes
// claimable, and its code runs once more to clean up. It ends when the code ends, at the latest at `cancel_deadline_at_ms`.
// An execution that was asked before keeps its outcome, reason and place; only the deadline moves.
//
// The statement writes the request on the row and one event. For an execution that waited, it also writes a ready row, and leaves no
// open suspension, no open waitpoint and no delay.
import { attached } from '../../model/attached.ts'
import type { PendingOutcome } from '../../model/state.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

/** A cancel asks `ff_exec_core e` first: its code has registered a compensation, or its task has `onCancel`. */
export function isAskedByCancelSql(e: string): string {
  return `${e}.attached & ${attached.compensation} <> 0`
}

/** A deadline, the reclaim limit or a timeout asks `ff_exec_core e` first: also for `onFailure`. */
export function isAskedByLimitSql(e: string): string {
  return `${e}.attached & ${attached.compensation | attached.onFailure} <> 0`
}

/** `ff_exec_core e` ends when it leaves its holder: it was asked to stop, and has nothing to clean up. */
export function endsWhenLeftSql(e: string): string {
  return `(${e}.cancel_requested_at_ms is not null and ${e}.attached & ${attached.compensation} = 0
      and (${e}.stop_outcome is null or ${e}.attached & ${attached.onFailure} = 0))`
}

const isMoved = `(a.cancel_requested_at_ms is null and a.lifecycle_phase <> 'active')`

/** An execution whose code is asked to stop and clean up, as decided under the lock. */
export interface AskToStop {
  /** The execution's. */
  readonly uuid: string
  /** Read from the clock after the lock. */
  readonly askedAt: number
  /** It ends by then at the latest. */
  readonly until: number
  /** How it ends after the clean-up; null is `cancelled`. */
  readonly outcome: PendingOutcome | null
  readonly reason: string | null
  readonly actor: string
}

const askStatement = statement({
  name: 'execution.ask-to-stop',
  params: {
    execution_ids: 'uuid[]',
    asked_ats_ms: 'int8[]',
    untils_ms: 'int8[]',
    outcomes: 'text?[]',
    reasons: 'text?[]',
    actors: 'text[]',
  },
  row: { ready_queue_ids: 'int4[]' },
  text: `
with asking as materialized (
  select i.execution_id, i.now_ms, i.asked_until_ms, i.asked_outcome::flowfabric.ff_terminal_outcome as asked_outcome,
    i.asked_reason, i.asked_actor, e.cancel_requested_at_ms, e.lifecycle_phase, e.attached, e.stop_outcome,
    e.cancellation_reason, e.cancelled_by
  from unnest($1::uuid[], $2::int8[], $3::int8[], $4::text[], $5::text[], $6::text[])
    as i (execution_id, now_ms, asked_until_ms, asked_outcome, asked_reason, asked_actor)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
asked as (
  update flowfabric.ff_exec_core e
  set cancel_requested_at_ms = coalesce(a.cancel_requested_at_ms, a.now_ms),
    cancel_deadline_at_ms = a.asked_until_ms,
    stop_outcome = case when a.cancel_requested_at_ms is null then a.asked_outcome else a.stop_outcome end,
    cancellation_reason = coalesce(a.cancellation_reason, a.asked_reason),
    cancelled_by = coalesce(a.cancelled_by, a.asked_actor),
    -- From now on, the deadline of the clean-up applies.
    deadline_at_ms = case when ${isAskedByCancelSql('a')} or a.asked_outcome is not null then null
      else e.deadline_at_ms end,
    lifecycle_phase = case when ${isMoved} then 'runnable'::flowfabric.ff_lifecycle_phase else e.lifecycle_phase end,
    eligibility_state = case when ${isMoved} then 'eligible_now'::flowfabric.ff_eligibility_state else e.eligibility_state end,
    interruption = case when a.lifecycle_phase = 'suspended' then 'cancelled'::flowfabric.ff_interruption
      else e.interruption end,
    delay_until_ms = case when not ${isMoved} then e.delay_until_ms end,
    parked_at_ms = case when not ${isMoved} then e.parked_at_ms end,
    parked_state = case when not ${isMoved} then e.parked_state end,
    attached = case when a.lifecycle_phase = 'suspended' then e.attached & ~${attached.suspension} else e.attached end,
    last_mutation_at_ms = greatest(a.now_ms, e.last_mutation_at_ms)
  from asking a
  where e.execution_id = any (array[a.execution_id])
  returning e.execution_id, e.flow_id, e.generation, e.partition_key, e.namespace, e.lease_id, e.lease_epoch,
    e.attempt_index, e.last_mutation_at_ms, e.queue_id, e.priority, e.rank, e.public_state, ${isMoved} as is_moved,
    a.attached as attached_before, a.asked_actor, a.asked_reason, a.asked_until_ms
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
  where d.is_moved and d.attached_before & ${attached.suspension} <> 0 and s.execution_id = any (array[d.execution_id])
    and s.closed_at_ms is null
),
asked_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = d.last_mutation_at_ms, close_reason = 'cancelled', expires_at_ms = null
  from asked d
  where d.is_moved and d.attached_before & ${attached.waitpoints | attached.suspension} <> 0
    and p.execution_id = any (array[d.execution_id]) and p.state <> 'closed'
),
asked_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, lease_id, lease_epoch, attempt_index, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'cancel_requested', partition_key, namespace, asked_actor,
    asked_reason, lease_id, lease_epoch, attempt_index, jsonb_build_object('deadlineAt', asked_until_ms)
  from asked
)
select coalesce(array_agg(distinct queue_id), '{}'::int4[]) as ready_queue_ids
from asked_ready`,
})

/** Asks executions to stop that an earlier statement of the transaction has locked. Returns the queues of those that can be claimed. */
export function askToStopCall(items: readonly AskToStop[]) {
  return call(askStatement, {
    execution_ids: items.map(({ uuid }) => uuid),
    asked_ats_ms: items.map(({ askedAt }) => askedAt),
    untils_ms: items.map(({ until }) => until),
    outcomes: items.map(({ outcome }) => outcome),
    reasons: items.map(({ reason }) => reason),
    actors: items.map(({ actor }) => actor),
  })
}
