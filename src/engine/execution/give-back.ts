// The two ways in which a holder gives an execution back without having finished: `delay`, until a time, and `release`,
// for anyone at once. Neither burns an attempt: the next claim goes on with this one.
import { EngineError } from '../../model/errors.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import {
  checkFence,
  fencedPlain,
  fencedWhole,
  fenceInput,
  fenceParams,
  fenceValues,
  type Fence,
  type CheckedFence,
} from '../transition/fence.ts'
import { fencedAnswer, fencedRow } from '../transition/fenced-answer.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { hasRecordedSql } from '../transition/expiry-count.ts'
import { fencedSet, wasAskedToStop } from '../transition/fenced-operation.ts'
import { endsWhenLeftSql } from '../transition/ask-to-stop.ts'
import { leaveHolder, leaveHolderWhole } from '../transition/requeue.ts'
import { checkTime } from '../kernel/time.ts'

export interface DelayRequest extends Fence {
  /** For how long; or `until`, a point in time. What is past means now. */
  readonly for?: Duration
  readonly until?: number
  readonly reason?: string
}

export interface ReleaseRequest extends Fence {
  readonly reason?: string
}

export type DelayResult =
  | { readonly kind: 'delayed'; readonly executionId: ExecutionId; readonly delayUntil: number | null }
  /** A cancel was asked for while it ran, so that it does not come back. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

export type ReleaseResult =
  | { readonly kind: 'released'; readonly executionId: ExecutionId }
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

/** A checked request; no time at all means at once. */
export interface GivenBack extends CheckedFence {
  readonly delayMs: number | null
  readonly delayUntil: number | null
  readonly reason: string | null
}

export function checkDelayRequest(caller: Caller, request: DelayRequest): GivenBack {
  refuseUnknownFields('delay', request, ['executionId', 'leaseId', 'leaseEpoch', 'for', 'until', 'reason'])
  const { for: duration, until, reason } = request
  if ((duration === undefined) === (until === undefined)) {
    throw new EngineError('invalid_input', 'delay takes either for (a duration) or until (a time)', { field: 'for' })
  }
  return {
    ...checkFence(caller, request),
    delayMs: duration === undefined ? null : parseDuration('for', duration),
    delayUntil: until === undefined ? null : checkTime('until', until),
    reason: checkReason(reason),
  }
}

export function checkReleaseRequest(caller: Caller, request: ReleaseRequest): GivenBack {
  refuseUnknownFields('release', request, ['executionId', 'leaseId', 'leaseEpoch', 'reason'])
  return { ...checkFence(caller, request), delayMs: null, delayUntil: null, reason: checkReason(request.reason) }
}

function checkReason(reason: string | undefined): string | null {
  return reason === undefined ? null : checkText('reason', reason, { maxBytes: limits.reasonBytes })
}

const giveBackRow = { ...fencedRow, is_cancelled: 'bool?', next_at_ms: 'int8?', queue_id: 'int4?' } as const
type GiveBackRow = RowOf<typeof giveBackRow>

// A worker that is busy or stops also releases executions that it only claimed ahead. That is no progress: it would clear the
// count of a crash loop.
const startedOrRecorded = `case when v.is_started or ${hasRecordedSql('v')} then 0 end`

function giveBackStatement(
  name: string,
  interruption: 'delayed' | 'released',
  judge: typeof fencedPlain,
  leave: string,
) {
  return statement({
    name,
    params: { ...fenceParams, delays_ms: 'int8?[]', delays_until_ms: 'int8?[]', reasons: 'text?[]' },
    row: giveBackRow,
    text: `
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::int8[], $8::int8[], $9::text[])
    with ordinality as i (${fenceInput}, delay_ms, until_ms, reason, ordinal)
),
${judge('delay_ms', 'until_ms', 'reason')},
judged as materialized (
  select v.*, v.now_ms as left_at_ms, v.actor as left_actor, v.reason as left_reason,
    '${interruption}'::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    'attempt_interrupted'::flowfabric.ff_attempt_state as next_attempt_state,
    '${interruption}'::flowfabric.ff_interruption as next_interruption,
    case when coalesce(v.until_ms, v.now_ms + v.delay_ms) > v.now_ms
      then coalesce(v.until_ms, v.now_ms + v.delay_ms) end as next_at_ms,
    ${interruption === 'delayed' ? '0' : startedOrRecorded} as next_expiry_count,
    ${endsWhenLeftSql('v')} as is_cancelled,
    '${interruption === 'delayed' ? 'interrupted' : 'released'}' as attempt_outcome,
    null::text as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    'none'::flowfabric.ff_terminal_outcome as forced_outcome
  from verdict v
),
leaving as materialized (
  select *
  from judged
  where is_held
),
${leave}
${fencedAnswer('judged', 'is_cancelled', 'next_at_ms', 'queue_id')}`,
  })
}

const delayPlain = giveBackStatement('execution.delay', 'delayed', fencedPlain, leaveHolder)
const delayWhole = giveBackStatement('execution.delay.whole', 'delayed', fencedWhole, leaveHolderWhole)
const releasePlain = giveBackStatement('execution.release', 'released', fencedPlain, leaveHolder)
const releaseWhole = giveBackStatement('execution.release.whole', 'released', fencedWhole, leaveHolderWhole)

type OnReady = (queueIds: Iterable<number>) => void

export function delayOperation(
  sql: Sql,
  onReady: OnReady,
  onDelay: (inMs: number) => void,
  onOwed: (owes: number) => void,
): SetOperation<GivenBack, DelayResult> {
  const delayed = ({ executionId }: CheckedFence, delayUntil: number | null): DelayResult => {
    return { kind: 'delayed', executionId, delayUntil }
  }
  return fencedSet<GivenBack, GiveBackRow, DelayResult>(sql, {
    callOf: (items) => call(delayPlain, valuesOf(items)),
    wholeCallOf: (items) => call(delayWhole, valuesOf(items)),
    readyQueueOf,
    onReady,
    hasEnded,
    onOwed,
    answer(item, row) {
      if (row.is_cancelled === true) return cancelled(item)
      if (item.delayMs !== null && row.next_at_ms !== null) onDelay(item.delayMs)
      return delayed(item, row.next_at_ms)
    },
    repeat(item, record) {
      if (wasAskedToStop(record)) return cancelled(item)
      return record.left_as === 'delayed' ? delayed(item, dueAfter(item, record.left_at_ms!)) : null
    },
  })
}

export function releaseOperation(
  sql: Sql,
  onReady: OnReady,
  onOwed: (owes: number) => void,
): SetOperation<GivenBack, ReleaseResult> {
  const released = ({ executionId }: CheckedFence): ReleaseResult => ({ kind: 'released', executionId })
  return fencedSet<GivenBack, GiveBackRow, ReleaseResult>(sql, {
    callOf: (items) => call(releasePlain, valuesOf(items)),
    wholeCallOf: (items) => call(releaseWhole, valuesOf(items)),
    readyQueueOf,
    onReady,
    hasEnded,
    onOwed,
    answer: (item, row) => (row.is_cancelled === true ? cancelled(item) : released(item)),
    repeat(item, record) {
      if (wasAskedToStop(record)) return cancelled(item)
      return record.left_as === 'released' ? released(item) : null
    },
  })
}

/** As the statement reckoned it: the repeat names the same delay. */
function dueAfter({ delayMs, delayUntil }: GivenBack, leftAt: number): number | null {
  const dueAt = delayUntil ?? leftAt + delayMs!
  return dueAt > leftAt ? dueAt : null
}

function hasEnded(row: GiveBackRow): boolean {
  return row.is_cancelled === true
}

function readyQueueOf(row: GiveBackRow): number | null {
  return row.is_cancelled !== true && row.next_at_ms === null ? row.queue_id : null
}

function cancelled({ executionId }: CheckedFence): { readonly kind: 'cancelled'; readonly executionId: ExecutionId } {
  return { kind: 'cancelled', executionId }
}

function valuesOf(items: readonly GivenBack[]) {
  return {
    ...fenceValues(items),
    delays_ms: items.map((item) => item.delayMs),
    delays_until_ms: items.map((item) => item.delayUntil),
    reasons: items.map((item) => item.reason),
  }
}
