// Fail: the holder reports that the attempt did not succeed. The execution's policy decides whether another attempt follows.
import { decideFail } from '../../model/departure.ts'
import { bytes, duration, encodingOf, flag, word } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { neededReason } from '../../model/named-fields.ts'
import { failureCategories } from '../../model/policy.ts'
import type { Sql } from '../../sql/sql.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { departingSet, type Departure } from '../transition/departing-set.ts'
import { wasAskedToStop, type LeaseRecord } from '../transition/lease-record.ts'
import { policiesOf, readPoliciesCall } from '../transition/read-locked.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { fencedRequest } from '../transition/fenced-request.ts'

export const failRequest = fencedRequest('fail', {
  /** One sentence for people. */
  reason: neededReason,
  /** Defaults to `transient`. */
  category: word(failureCategories, 'FailureCategory').default('transient'),
  /** Never retried, even if the policy allows it. */
  permanent: flag().default(false),
  /** If the policy allows a retry: the delay before it, instead of the policy's back-off. */
  retryIn: duration().optional(),
  /** The error itself, encoded, at most 64 KiB. */
  error: bytes({ maxBytes: limits.errorBytes, advice: 'Truncate it' }).optional(),
  errorEncoding: encodingOf('error', {}),
})

export interface FailRequest extends RequestOf<typeof failRequest.fields> {}

type Failure = ItemOf<typeof failRequest>

export type FailResult =
  | { readonly kind: 'failed'; readonly executionId: ExecutionId }
  | { readonly kind: 'retry_scheduled'; readonly executionId: ExecutionId; readonly delayUntil: number | null }
  /** It was asked to stop while it ran, so it ended and does not return. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

export function failOperation(sql: Sql): SetOperation<Failure, FailResult> {
  const facts = { call: readPoliciesCall, of: policiesOf }
  const set = departingSet<Failure, FailResult, ReturnType<typeof policiesOf>>(sql, { facts, decide, repeat })
  return { ...set, bytesOf: (item) => 512 + (item.error?.byteLength ?? 0) }
}

function decide(
  item: Failure,
  execution: LockedExecution,
  policies: ReturnType<typeof policiesOf>,
): Departure<FailResult> {
  const { executionId, reason, actor, category, error, errorEncoding } = item
  const failure = { category, error, errorEncoding }
  const decision = decideFail(execution, policies.get(item.uuid) ?? null, item, actor, Math.random())
  if (decision.kind === 'failed') {
    return { answer: { kind: 'failed', executionId }, ending: { outcome: 'failed', reason, actor, failure } }
  }
  if (decision.kind === 'cancelled') {
    return { answer: { kind: 'cancelled', executionId }, ending: { ...decision.ending, failure } }
  }
  return {
    answer: { kind: 'retry_scheduled', executionId, delayUntil: decision.nextAt },
    requeue: {
      reason,
      event: 'retried',
      attemptState: 'pending_retry_attempt',
      interruption: 'none',
      nextAt: decision.nextAt,
      expiryCount: 0,
      attemptOutcome: 'retry',
      failure,
    },
  }
}

function repeat({ executionId, category }: Failure, record: LeaseRecord): FailResult | null {
  if (wasAskedToStop(record)) return { kind: 'cancelled', executionId }
  // Other processes end attempts too, with no category or that of a timeout.
  if (record.failure_category !== category) return null
  if (record.outcome === 'retry') return { kind: 'retry_scheduled', executionId, delayUntil: record.next_at_ms }
  return record.outcome === 'failed' ? { kind: 'failed', executionId } : null
}
