// Fail: the holder says that the attempt did not succeed. The execution's policy decides whether another follows.
import { EngineError, refusal } from '../../model/errors.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { failureCategories, type FailureCategory } from '../../model/policy.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText, show } from '../../model/text.ts'
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
import { endsWhenLeftSql } from '../transition/ask-to-stop.ts'
import { fencedSet, wasAskedToStop } from '../transition/fenced-operation.ts'
import { leaveHolder, leaveHolderWhole } from '../transition/requeue.ts'
import { retryDelaySql, shouldRetrySql } from '../transition/retry.ts'

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
  /** A cancel was asked for while it ran, so that it does not come back. */
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

const failRow = {
  ...fencedRow,
  ended_as: 'text?',
  next_at_ms: 'int8?',
  retry_delay_ms: 'int8?',
  queue_id: 'int4?',
} as const
type FailRow = RowOf<typeof failRow>

const failPlain = failStatement('execution.fail', fencedPlain, leaveHolder)
const failWhole = failStatement('execution.fail.whole', fencedWhole, leaveHolderWhole)

// The policy is read with the execution locked; it never changes, and the retry count only under this lock.
function failStatement(name: string, judge: typeof fencedPlain, leave: string) {
  return statement({
    name,
    params: {
      ...fenceParams,
      reasons: 'text[]',
      categories: 'text[]',
      permanents: 'bool[]',
      retry_ins_ms: 'int8?[]',
      errors: 'bytea?[]',
      error_encodings: 'text?[]',
    },
    row: failRow,
    text: `
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[], $8::text[], $9::bool[],
    $10::int8[], $11::bytea[], $12::text[])
    with ordinality as i (${fenceInput}, reason, category, permanent, retry_in_ms, error, error_encoding, ordinal)
),
${judge('reason', 'category', 'permanent', 'retry_in_ms', 'error', 'error_encoding')},
decided as materialized (
  select v.*, n.policy, ${shouldRetrySql('n.policy', 'v.retry_count', 'v.category', 'v.permanent')} as is_retried,
    coalesce(v.retry_in_ms, ${retryDelaySql('n.policy', 'v.retry_count')}) as retry_delay_ms
  from verdict v
  join flowfabric.ff_exec_input n on n.partition_key = any (array[v.partition_key]) and n.execution_id = any (array[v.execution_id])
),
judged as materialized (
  select d.*, d.now_ms as left_at_ms, d.actor as left_actor, d.reason as left_reason,
    'retried'::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    'pending_retry_attempt'::flowfabric.ff_attempt_state as next_attempt_state,
    'none'::flowfabric.ff_interruption as next_interruption,
    -- An execution that was asked to stop comes back only to clean up.
    case when d.retry_delay_ms > 0 and d.cancel_requested_at_ms is null then d.now_ms + d.retry_delay_ms end as next_at_ms,
    0 as next_expiry_count,
    'retry' as attempt_outcome,
    d.category as failure_category,
    case when d.is_retried then 'none' else 'failed' end::flowfabric.ff_terminal_outcome as forced_outcome,
    case when not d.is_retried then 'failed' when ${endsWhenLeftSql('d')} then 'cancelled' end as ended_as
  from decided d
),
leaving as materialized (
  select *
  from judged
  where is_held
),
${leave}
${fencedAnswer('judged', 'ended_as', 'next_at_ms', 'retry_delay_ms', 'queue_id')}`,
  })
}

export function failOperation(
  sql: Sql,
  onReady: (queueIds: Iterable<number>) => void,
  onDelay: (inMs: number) => void,
  onOwed: (owes: number) => void,
): SetOperation<Failure, FailResult> {
  const retried = ({ executionId }: CheckedFence, delayUntil: number | null): FailResult => {
    return { kind: 'retry_scheduled', executionId, delayUntil }
  }
  return {
    ...fencedSet<Failure, FailRow, FailResult>(sql, {
      callOf: (items) => call(failPlain, valuesOf(items)),
      wholeCallOf: (items) => call(failWhole, valuesOf(items)),
      readyQueueOf: (row) => (row.ended_as === null && row.next_at_ms === null ? row.queue_id : null),
      onReady,
      hasEnded: (row) => row.ended_as !== null,
      onOwed,
      answer(item, row) {
        if (row.ended_as === null) {
          if (row.next_at_ms !== null && row.retry_delay_ms !== null) onDelay(row.retry_delay_ms)
          return retried(item, row.next_at_ms)
        }
        return { kind: row.ended_as as 'failed' | 'cancelled', executionId: item.executionId }
      },
      repeat(item, record) {
        if (wasAskedToStop(record)) return { kind: 'cancelled', executionId: item.executionId }
        // Others end attempts too, and give no category, or that of a timeout.
        if (record.failure_category !== item.category) return null
        if (record.outcome === 'retry') return retried(item, record.next_at_ms)
        return record.outcome === 'failed' ? { kind: 'failed', executionId: item.executionId } : null
      },
    }),
    bytesOf: (item) => 512 + (item.error?.byteLength ?? 0),
  }
}

function valuesOf(items: readonly Failure[]) {
  return {
    ...fenceValues(items),
    reasons: items.map((item) => item.reason),
    categories: items.map((item) => item.category),
    permanents: items.map((item) => item.permanent),
    retry_ins_ms: items.map((item) => item.retryInMs),
    errors: items.map((item) => item.error),
    error_encodings: items.map((item) => item.errorEncoding),
  }
}
