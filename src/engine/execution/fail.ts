// Fail: the holder reports that the attempt did not succeed. The execution's policy decides whether another attempt follows.
import { EngineError, refusal } from '../../model/errors.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { failureCategories, type FailureCategory } from '../../model/policy.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText, show } from '../../model/text.ts'
import { decideFail } from '../../model/departure.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { departingSet, type Departure } from '../transition/departing-set.ts'
import { checkFence, type CheckedFence, type Fence } from '../transition/fence.ts'
import { wasAskedToStop, type LeaseRecord } from '../transition/lease-record.ts'
import { policiesOf, readPoliciesCall } from '../transition/read-locked.ts'

export interface FailRequest extends Fence {
  /** One sentence for people. */
  readonly reason: string
  /** Defaults to `transient`. */
  readonly category?: FailureCategory
  /** Never retried, whatever the policy says. */
  readonly permanent?: boolean
  /** When the policy allows a retry: after this long, instead of its back-off. */
  readonly retryIn?: Duration
  /** The error itself, encoded; what is over 64 KiB is cut by whoever encodes it. */
  readonly error?: Uint8Array
  readonly errorEncoding?: string
}

export type FailResult =
  | { readonly kind: 'failed'; readonly executionId: ExecutionId }
  | { readonly kind: 'retry_scheduled'; readonly executionId: ExecutionId; readonly delayUntil: number | null }
  /** It was asked to stop while it ran, so it does not come back. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

export interface Failure extends CheckedFence {
  readonly reason: string
  readonly category: FailureCategory
  readonly permanent: boolean
  readonly retryInMs: number | null
  readonly error: Uint8Array | null
  readonly errorEncoding: string | null
}

const fields = [
  'executionId',
  'leaseId',
  'leaseEpoch',
  'reason',
  'category',
  'permanent',
  'retryIn',
  'error',
  'errorEncoding',
] as const satisfies readonly (keyof FailRequest)[]

export function checkFailRequest(caller: Caller, request: FailRequest): Failure {
  refuseUnknownFields('fail', request, fields)
  const { reason, category = 'transient', permanent = false, retryIn, error, errorEncoding = 'json' } = request
  if (!failureCategories.includes(category)) {
    throw refusal('invalid_input', 'category', show(category), `one of ${failureCategories.join(', ')}`)
  }
  if (typeof permanent !== 'boolean') throw refusal('invalid_input', 'permanent', show(permanent), 'true or false')
  return {
    ...checkFence(caller, request),
    reason: checkText('reason', reason, { minBytes: 1, maxBytes: limits.reasonBytes }),
    category,
    permanent,
    retryInMs: retryIn === undefined ? null : parseDuration('retryIn', retryIn),
    error: error === undefined ? null : checkError(error),
    errorEncoding:
      error === undefined
        ? null
        : checkText('errorEncoding', errorEncoding, { minBytes: 1, maxBytes: limits.encodingBytes }),
  }
}

function checkError(error: unknown): Uint8Array {
  if (!(error instanceof Uint8Array)) {
    throw refusal('invalid_input', 'error', show(error), 'bytes (base64 over HTTP)')
  }
  if (error.byteLength <= limits.errorBytes) return error
  const sentence = `error is ${error.byteLength} bytes; at most ${limits.errorBytes} are stored. Truncate it`
  throw new EngineError('payload_too_large', sentence, {
    field: 'error',
    bytes: error.byteLength,
    limit: limits.errorBytes,
  })
}

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
