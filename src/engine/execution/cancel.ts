// Cancel ends an execution in its own transaction, whoever holds it: the holder's next write meets the ending. With a grace, one
// that runs is asked first: its holder hears of it by a hint, else within a second, and may finish or clean up; every way back to
// the queue, and at the latest the end of the grace, ends it cancelled.
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { PublicState } from '../../model/state.ts'
import { checkText, show } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { checkFence, type Fence } from '../transition/fence.ts'
import type { Effects } from '../kernel/effects.ts'
import { pendingDispatchSql } from '../kernel/pending-dispatch.ts'
import { rowLocked, type Outcome, type SetOperation } from '../kernel/merge.ts'
import type { HeldCancellation } from './cancel-held.ts'
import { askToStop, isAskedByCancelSql } from '../transition/ask-to-stop.ts'
import { endExecutionsWhole, endsWithoutMore } from '../transition/ending.ts'
import { checkTarget, lockAlone, type Target } from '../transition/operator-set.ts'

export interface CancelRequest {
  readonly executionId: string
  readonly reason?: string
  /** How long a running one may go on after it was asked to stop; without it, or with 0, it ends at once. */
  readonly grace?: Duration
  /**
   * How long an execution that has registered a compensation may take to clean up, also when it waits; defaults to `grace`, else to
   * 10 minutes. Others end at once, or after their grace.
   */
  readonly deadline?: Duration
  /** Ends it at once, without its compensations. */
  readonly force?: boolean
  /** Of the holder, when it is the holder who cancels: then only while it holds the execution, and at once. */
  readonly leaseId?: string
  readonly leaseEpoch?: number
}

export type CancelResult =
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId; readonly from: PublicState }
  /** It was cancelled before; that reason stands. */
  | { readonly kind: 'already_cancelled'; readonly executionId: ExecutionId }
  /** Its holder was asked to stop; asked again, the earlier end of the grace and the first reason stand. */
  | { readonly kind: 'cancel_requested'; readonly executionId: ExecutionId; readonly deadlineAt: number }

/** A checked request, as the statement takes it. */
export interface Cancellation extends Target {
  readonly reason: string | null
  readonly graceMs: number
  readonly deadlineMs?: number | null
  readonly isForced?: boolean
}

export function checkCancelRequest(caller: Caller, request: CancelRequest): Cancellation | HeldCancellation {
  refuseUnknownFields('cancel', request, cancelFields)
  const { executionId, leaseId, leaseEpoch, grace, deadline, force = false } = request
  if (typeof force !== 'boolean') throw refusal('invalid_input', 'force', show(force), 'true or false')
  const reason =
    request.reason === undefined ? null : checkText('reason', request.reason, { maxBytes: limits.reasonBytes })
  if (leaseId === undefined && leaseEpoch === undefined) {
    const graceMs = grace === undefined ? 0 : parseDuration('grace', grace)
    const deadlineMs = deadline === undefined ? null : parseDuration('deadline', deadline)
    return { ...checkTarget(caller, executionId), reason, graceMs, deadlineMs, isForced: force }
  }
  for (const field of ['grace', 'deadline', 'force'] as const) {
    if (request[field] === undefined) continue
    throw refusal('invalid_input', field, show(request[field]), 'omitted when you cancel with the lease')
  }
  return { ...checkFence(caller, request as Fence), reason }
}

const cancelFields = [
  'executionId',
  'reason',
  'grace',
  'deadline',
  'force',
  'leaseId',
  'leaseEpoch',
] as const satisfies readonly (keyof CancelRequest)[]

export function isByHolder(item: Cancellation | HeldCancellation): item is HeldCancellation {
  return 'leaseId' in item
}

const params = {
  execution_ids: 'uuid[]',
  partition_keys: 'int2[]',
  namespaces: 'text?[]',
  reasons: 'text?[]',
  actors: 'text[]',
  graces_ms: 'int8[]',
  deadlines_ms: 'int8?[]',
  forces: 'bool[]',
} as const

const row = {
  ordinal: 'int8',
  /** As it was found; null when another transaction holds it. */
  public_state: oneOf<PublicState | null>(),
  /** The end of the grace, when its holder is asked to stop. */
  asked_until_ms: 'int8?',
  /** What it owes others, when it has ended now. */
  owes: 'int4',
  /** It was running: its holder is to look at its leases. */
  called_off_id: 'uuid?',
  /** It waited, and is claimable now. */
  ready_queue_id: 'int4?',
} as const

// Locks the executions in the order of their ids and passes over those that are held; an item that exists and was passed
// over answers with a null state, one that does not exist answers nothing. `not in` is a hashed lookup, a join of the two
// sets would compare each with each.
//
// An execution that was changed after the statement began is passed over too, by its `xmin`: its new lease or ready row
// cannot be seen, and would be left behind. Alone, the lock comes in an earlier statement, and everything is seen.
const cancelSet = statement({
  name: 'execution.cancel',
  params,
  row,
  text: `
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
${clockAfter('target')},
looked as materialized (
  select t.*, c.now_ms,
    case when t.is_forced or t.lifecycle_phase = 'terminal' then null
      when ${isAskedByCancelSql('t')} then least(t.cancel_deadline_at_ms,
        c.now_ms + coalesce(t.given_deadline_ms, nullif(t.grace_ms, 0), ${limits.cancelDeadlineMs}))
      when t.lifecycle_phase = 'active' and t.grace_ms > 0
      then least(t.cancel_deadline_at_ms, c.now_ms + t.grace_ms) end as asked_until_ms
  from target t
  cross join clock c
),
asking as materialized (
  select k.*, null::flowfabric.ff_terminal_outcome as asked_outcome, k.reason as asked_reason, k.actor as asked_actor
  from looked k
  where k.asked_until_ms is not null and k.asked_until_ms is distinct from k.cancel_deadline_at_ms
),${askToStop},
ending as materialized (
  select k.*, 'cancelled'::flowfabric.ff_terminal_outcome as ending_outcome,
    coalesce(k.reason, k.cancellation_reason) as ending_reason, k.actor as ending_actor, k.now_ms as ended_at_ms,
    ${endsWithoutMore}
  from looked k
  where k.lifecycle_phase <> 'terminal' and k.asked_until_ms is null
),
${endExecutionsWhole}
select k.ordinal, k.public_state, k.asked_until_ms,
  case when k.lifecycle_phase <> 'terminal' and k.asked_until_ms is null then ${pendingDispatchSql('k.attached')} else 0 end as owes,
  case when k.public_state = 'active' then k.execution_id end as called_off_id,
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
where i.ordinal not in (select ordinal from target)`,
})

/** In a transaction of another's, which has locked them by an earlier statement. */
export function cancelCall(items: readonly Cancellation[]) {
  return call(cancelSet, columnsOf(items))
}

export function cancelOperation(sql: Sql): SetOperation<Cancellation, CancelResult> {
  return {
    keyOf: (item) => item.uuid,
    async send(items) {
      const rows = await sql.query(cancelSet, columnsOf(items))
      return { outcomes: decode(items, rows), effects: effectsOfCancel(rows) }
    },
    async sendAlone(item, _again, lockTimeoutMs) {
      const [, rows] = await sql.pipeline(
        [call(lockAlone, { execution_id: item.uuid }), call(cancelSet, columnsOf([item]))],
        { lockTimeoutMs },
      )
      return { outcomes: decode([item], rows), effects: effectsOfCancel(rows) }
    },
  }
}

function columnsOf(items: readonly Cancellation[]) {
  return {
    execution_ids: items.map((item) => item.uuid),
    partition_keys: items.map((item) => item.partition),
    namespaces: items.map((item) => item.namespace),
    reasons: items.map((item) => item.reason),
    actors: items.map((item) => item.actor),
    graces_ms: items.map((item) => item.graceMs),
    deadlines_ms: items.map((item) => item.deadlineMs ?? null),
    forces: items.map((item) => item.isForced ?? false),
  }
}

type FoundRow = RowOf<typeof row>

export function effectsOfCancel(rows: readonly FoundRow[]): Effects {
  return {
    readyQueueIds: [...new Set(rows.flatMap((row) => row.ready_queue_id ?? []))],
    pendingDispatch: rows.reduce((pending, row) => pending | row.owes, 0),
    stoppedRunIds: rows.flatMap((row) => row.called_off_id ?? []),
    wroteEvents: true,
  }
}

function decode(items: readonly Cancellation[], rows: readonly FoundRow[]): Outcome<CancelResult>[] {
  const found = new Map(rows.map((found) => [found.ordinal, found]))
  return items.map((item, index) => answer(item.executionId, found.get(index + 1)))
}

function answer(executionId: ExecutionId, found: FoundRow | undefined): Outcome<CancelResult> {
  const deadlineAt = found?.asked_until_ms ?? null
  if (deadlineAt !== null) return { kind: 'cancel_requested', executionId, deadlineAt }
  const state = found?.public_state
  switch (state) {
    case undefined:
      return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
    case null:
      return rowLocked
    case 'cancelled':
      return { kind: 'already_cancelled', executionId }
    case 'completed':
    case 'failed':
    case 'expired':
    case 'skipped':
      return new EngineError(
        'execution_not_cancellable',
        `execution ${executionId} is ${state}; only a waiting, active or suspended execution can be cancelled`,
        { executionId, publicState: state },
      )
    default:
      return { kind: 'cancelled', executionId, from: state }
  }
}
