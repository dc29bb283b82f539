// The one way out of a suspension that leads back to the queue. A signal that satisfies the condition, an operator's resume,
// a point in time, a child's ending and the timeout that resumes all put a CTE `waking` before this fragment.
//
// `waking` has one row for each execution that wakes: suspended, locked earlier in the statement or its transaction, and as
// the statement's snapshot has it. Its columns:
//   execution_id
//   wake_interruption  ff_interruption: 'signalled', 'timed_out' or 'children'
//   wake_delay_ms      bigint or null: not claimable before
//   woken_at_ms        bigint, read from the clock after the lock
//   wake_actor         text
//   wake_reason        text or null
//   wake_close_reason  text: how suspension and waitpoints close
//   wake_outcome       jsonb or null: the leaf that won, and the signals that satisfied it
//   wake_answered      jsonb or null: the keys of the waitpoints through which those signals came
//   wake_signal_nos    bigint[] or null: the numbers of the signals that it takes
//
// It yields `woken`, one row for each, and leaves: the execution runnable with the same attempt, in the ready table or delayed;
// its suspension and its waitpoints closed, without timers; one event. A suspension that keeps its waitpoints leaves unanswered
// ones pending, with the signals that they have received, for the next suspension that names them. A cancel that was requested
// before the suspension does not matter here: the suspend itself ends an execution that was asked to stop.
import { attached } from '../../model/attached.ts'
import type { Evaluation } from '../../model/condition-evaluate.ts'
import type { ConditionSignal } from '../../model/condition-match.ts'
import { childrenOf } from '../../model/condition-waits.ts'
import type { Condition } from '../../model/condition.ts'
import type { CloseReason } from '../../model/suspension.ts'
import type { Interruption } from '../../model/state.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { CarriedHint } from '../kernel/hint.ts'

// Of a waitpoint `p` and its suspension `s`.
const isKept = `(s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true)`

/** The details of the events that report the answer to a wait and its ending. */
export const waitEventColumns = `occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor,
    reason, attempt_index, details`

/**
 * `eventsBefore` is a select of more events, written before its own; it ends in `union all`. Every insert into the log costs a
 * thirtieth of waking one execution (measured).
 */
export function wakeSuspended(eventsBefore = ''): string {
  return `
woken as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'runnable',
    eligibility_state = case when w.wake_delay_ms > 0 then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    interruption = w.wake_interruption,
    delay_until_ms = case when w.wake_delay_ms > 0 then w.woken_at_ms + w.wake_delay_ms end,
    parked_at_ms = null,
    parked_state = null,
    attached = e.attached & ~${attached.suspension},
    last_mutation_at_ms = greatest(w.woken_at_ms, e.last_mutation_at_ms)
  from waking w
  where e.execution_id = any (array[w.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, e.queue_id, e.priority,
    e.rank, e.eligibility_state, e.delay_until_ms, e.last_mutation_at_ms, w.wake_actor, w.wake_reason,
    w.wake_close_reason, w.wake_outcome, w.wake_answered, w.wake_signal_nos
),
woken_ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, true, rank, execution_id
  from woken
  where eligibility_state = 'eligible_now'
),
woken_suspension as (
  update flowfabric.ff_suspension_current s
  set closed_at_ms = d.last_mutation_at_ms, close_reason = d.wake_close_reason, timeout_at_ms = null, wake_at_ms = null,
    outcome = d.wake_outcome, signal_nos = d.wake_signal_nos
  from woken d
  where s.execution_id = any (array[d.execution_id])
  returning s.execution_id, s.suspension_id, s.closed_at_ms, s.close_reason, s.keeps_waitpoints, d.wake_answered
),
woken_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = case when ${isKept} then 'pending'::flowfabric.ff_waitpoint_state
      else 'closed'::flowfabric.ff_waitpoint_state end,
    suspension_id = case when not ${isKept} then p.suspension_id end,
    closed_at_ms = case when not ${isKept} then s.closed_at_ms end,
    close_reason = case when not ${isKept} then s.close_reason end
  from woken_suspension s
  where p.execution_id = any (array[s.execution_id]) and p.suspension_id = s.suspension_id and p.state = 'active'
),
woken_event as (
  insert into flowfabric.ff_event (${waitEventColumns})${eventsBefore}
  select last_mutation_at_ms, execution_id, flow_id, generation, 'resumed', partition_key, namespace, wake_actor,
    wake_reason, attempt_index,
    jsonb_strip_nulls(jsonb_build_object('closeReason', wake_close_reason, 'delayUntil', delay_until_ms,
      'outcome', wake_outcome))
  from woken
)`
}

export interface Waking {
  /** The execution's. */
  readonly uuid: string
  readonly interruption: Extract<Interruption, 'signalled' | 'timed_out' | 'children'>
  readonly delayMs: number | null
  /** Read from the clock after the lock. */
  readonly wokenAt: number
  readonly actor: string
  readonly reason: string | null
  readonly closeReason: CloseReason
  readonly outcome: unknown
  /** The keys of the waitpoints through which the signals of the outcome came. */
  readonly answered: readonly string[]
  /** Of the signals that it takes. */
  readonly signalNumbers: readonly number[]
}

const wake = statement({
  name: 'suspension.wake',
  params: {
    execution_ids: 'uuid[]',
    interruptions: 'text[]',
    delays_ms: 'int8?[]',
    woken_ats_ms: 'int8[]',
    actors: 'text[]',
    reasons: 'text?[]',
    close_reasons: 'text[]',
    outcomes: 'jsonb?[]',
    answered_keys: 'jsonb[]',
    taken_nos: 'text[]',
    channel: 'text?',
    hint: 'text?',
  },
  row: { execution_id: 'uuid', queue_id: 'int4', delay_until_ms: 'int8?' },
  text: `
with waking as materialized (
  select execution_id, wake_interruption::flowfabric.ff_interruption as wake_interruption, wake_delay_ms, woken_at_ms,
    wake_actor, wake_reason, wake_close_reason, wake_outcome, wake_answered, wake_signal_nos::int8[] as wake_signal_nos
  from unnest($1::uuid[], $2::text[], $3::int8[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $9::jsonb[],
      $10::text[])
    as w (execution_id, wake_interruption, wake_delay_ms, woken_at_ms, wake_actor, wake_reason, wake_close_reason,
      wake_outcome, wake_answered, wake_signal_nos)
),
${wakeSuspended()}
select execution_id, queue_id, delay_until_ms
from woken
where $11::text is null or pg_notify($11, $12) is not null`,
})

/** For executions that an earlier statement of the transaction has locked and found suspended. */
export function wakeCall(items: readonly Waking[], hint: CarriedHint | null = null) {
  return call(wake, {
    execution_ids: items.map((item) => item.uuid),
    interruptions: items.map((item) => item.interruption),
    delays_ms: items.map((item) => item.delayMs),
    woken_ats_ms: items.map((item) => item.wokenAt),
    actors: items.map((item) => item.actor),
    reasons: items.map((item) => item.reason),
    close_reasons: items.map((item) => item.closeReason),
    outcomes: items.map((item) => item.outcome),
    answered_keys: items.map((item) => item.answered),
    taken_nos: items.map((item) => numbersSql(item.signalNumbers)),
    channel: hint?.channel ?? null,
    hint: hint?.payload ?? null,
  })
}

/** An array as one value of an array: Postgres has no arrays of different lengths in one. */
export function numbersSql(numbers: readonly number[]): string {
  return `{${numbers.join(',')}}`
}

/** The keys of the waitpoints through which the satisfying signals came. */
export function answeredBy({ signals }: Evaluation, facts: readonly ConditionSignal[]): string[] {
  const taken = new Set(signals)
  return facts.flatMap(({ id, waitpoint }) => (waitpoint !== undefined && taken.has(id) ? [waitpoint] : []))
}

/** The kind of its return: by a signal that it took, else by a child's ending if it waits for one, else by time. */
export function interruptionBy({ signals }: Evaluation, condition: Condition): Waking['interruption'] {
  if (signals.length > 0) return 'signalled'
  return childrenOf(condition).length > 0 ? 'children' : 'timed_out'
}
