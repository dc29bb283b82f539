// The two requests by which a holder gives an execution back unfinished: `delay`, until a time, and `release`, to any worker at once.
// Neither uses up an attempt: the next claim continues this one.
import { decideGiveBack, dueAt, expiryCountAfterRelease } from '../../model/departure.ts'
import { EngineError } from '../../model/errors.ts'
import { duration, time } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { reason } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { departingSet, type Departure } from '../transition/departing-set.ts'
import type { CheckedFence } from '../transition/fence.ts'
import { fencedRequest } from '../transition/fenced-request.ts'
import { wasAskedToStop, type LeaseRecord } from '../transition/lease-record.ts'
import { progressedOf, readProgressedCall } from '../transition/read-locked.ts'

export const delayRequest = fencedRequest('delay', {
  /** For how long; or `until`, a point in time. A past time means now. */
  for: duration().optional(),
  until: time().optional(),
  reason: reason.optional(),
})

export interface DelayRequest extends RequestOf<typeof delayRequest.fields> {}

export const releaseRequest = fencedRequest('release', { reason: reason.optional() })

export interface ReleaseRequest extends RequestOf<typeof releaseRequest.fields> {}

export type DelayResult =
  | { readonly kind: 'delayed'; readonly executionId: ExecutionId; readonly delayUntil: number | null }
  /** It was asked to stop while it ran, so it ended and does not return. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

export type ReleaseResult =
  | { readonly kind: 'released'; readonly executionId: ExecutionId }
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

/** A checked request; without a time, at once. */
export interface GivenBack extends CheckedFence {
  readonly delayMs: number | null
  readonly delayUntil: number | null
  readonly reason: string | null
}

export function checkDelayRequest(caller: Caller, request: DelayRequest): GivenBack {
  const { forMs: delayMs, until: delayUntil, ...item } = delayRequest.check(caller, request)
  if ((delayMs === null) === (delayUntil === null)) {
    throw new EngineError('invalid_input', 'delay takes either for (a duration) or until (a time)', { field: 'for' })
  }
  return { ...item, delayMs, delayUntil }
}

export function checkReleaseRequest(caller: Caller, request: ReleaseRequest): GivenBack {
  return { ...releaseRequest.check(caller, request), delayMs: null, delayUntil: null }
}

export function delayOperation(sql: Sql): SetOperation<GivenBack, DelayResult> {
  return departingSet<GivenBack, DelayResult>(sql, { facts: null, decide: delay, repeat: repeatDelay })
}

function delay(item: GivenBack, execution: LockedExecution): Departure<DelayResult> {
  const decision = decideGiveBack(execution, item, item.actor)
  if (decision.kind === 'cancelled') return { answer: cancelled(item), ending: decision.ending }
  const { nextAt } = decision
  return {
    answer: { kind: 'delayed', executionId: item.executionId, delayUntil: nextAt },
    requeue: {
      reason: item.reason,
      event: 'delayed',
      attemptState: 'attempt_interrupted',
      interruption: 'delayed',
      nextAt,
      expiryCount: 0,
      attemptOutcome: 'interrupted',
    },
  }
}

/** The repeat names the same delay, which began when the lease ended. */
function repeatDelay(item: GivenBack, record: LeaseRecord): DelayResult | null {
  if (wasAskedToStop(record)) return cancelled(item)
  if (record.left_as !== 'delayed') return null
  return { kind: 'delayed', executionId: item.executionId, delayUntil: dueAt(item, record.left_at_ms!) }
}

export function releaseOperation(sql: Sql): SetOperation<GivenBack, ReleaseResult> {
  const facts = { call: readProgressedCall, of: progressedOf }
  const operation = { facts, decide: release, repeat: repeatRelease }
  return departingSet<GivenBack, ReleaseResult, ReadonlySet<string>>(sql, operation)
}

function release(
  item: GivenBack,
  execution: LockedExecution,
  progressed: ReadonlySet<string>,
): Departure<ReleaseResult> {
  const decision = decideGiveBack(execution, item, item.actor)
  if (decision.kind === 'cancelled') return { answer: cancelled(item), ending: decision.ending }
  return {
    answer: { kind: 'released', executionId: item.executionId },
    requeue: {
      reason: item.reason,
      event: 'released',
      attemptState: 'attempt_interrupted',
      interruption: 'released',
      nextAt: null,
      expiryCount: expiryCountAfterRelease(execution, progressed.has(item.uuid)),
      attemptOutcome: 'released',
    },
  }
}

function repeatRelease(item: GivenBack, record: LeaseRecord): ReleaseResult | null {
  if (wasAskedToStop(record)) return cancelled(item)
  return record.left_as === 'released' ? { kind: 'released', executionId: item.executionId } : null
}

function cancelled({ executionId }: CheckedFence): { readonly kind: 'cancelled'; readonly executionId: ExecutionId } {
  return { kind: 'cancelled', executionId }
}
