// Complete: the holder has done the work; the result is stored with the ending.
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText, show } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import {
  checkFence,
  fencedToRelease,
  fencedToReleaseWhole,
  fenceInput,
  fenceParams,
  fenceValues,
  type Fence,
  type CheckedFence,
} from '../transition/fence.ts'
import { releasedAnswer, releasedRow, releasedWholeAnswer } from '../transition/fenced-answer.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { endReleased, endReleasedWhole } from '../transition/ending.ts'
import { fencedSet } from '../transition/fenced-operation.ts'
import type { MoreToClose } from '../transition/more-to-close.ts'

export interface CompleteRequest extends Fence {
  readonly result?: Uint8Array
  /** How to read the result; defaults to `json`. */
  readonly resultEncoding?: string
}

export interface Completed {
  readonly kind: 'completed'
  readonly executionId: ExecutionId
}

export interface Completion extends CheckedFence {
  readonly result: Uint8Array | null
  readonly resultEncoding: string | null
}

export function checkCompleteRequest(caller: Caller, request: CompleteRequest): Completion {
  refuseUnknownFields('complete', request, ['executionId', 'leaseId', 'leaseEpoch', 'result', 'resultEncoding'])
  const { result, resultEncoding = 'json' } = request
  // Written out: a spread with more after it is a slow object (measured: 3.7 us).
  const { executionId, partition, uuid, namespace, leaseId, leaseEpoch, actor } = checkFence(caller, request)
  return {
    executionId,
    partition,
    uuid,
    namespace,
    leaseId,
    leaseEpoch,
    actor,
    result: result === undefined ? null : checkResult(result),
    resultEncoding:
      result === undefined
        ? null
        : checkText('resultEncoding', resultEncoding, {
            minBytes: 1,
            maxBytes: limits.encodingBytes,
            printableAscii: true,
          }),
  }
}

function checkResult(result: unknown): Uint8Array {
  if (!(result instanceof Uint8Array)) {
    throw new EngineError('invalid_input', `result is ${show(result)}; it must be bytes (base64 over HTTP)`, {
      field: 'result',
    })
  }
  if (result.byteLength <= limits.resultBytes) return result
  const sentence = `result is ${result.byteLength} bytes; at most ${limits.resultBytes} are stored. Keep it elsewhere and return a reference`
  throw new EngineError('payload_too_large', sentence, {
    field: 'result',
    bytes: result.byteLength,
    limit: limits.resultBytes,
  })
}

const completePlain = completeStatement({
  name: 'execution.complete',
  release: fencedToRelease,
  endThem: endReleased,
  answer: releasedAnswer,
})
const completeWhole = completeStatement({
  name: 'execution.complete.whole',
  release: fencedToReleaseWhole,
  endThem: endReleasedWhole,
  answer: releasedWholeAnswer,
})

interface CompleteForm {
  readonly name: string
  readonly release: typeof fencedToRelease
  readonly endThem: string
  readonly answer: string
}

function completeStatement({ name, release, endThem, answer }: CompleteForm) {
  return statement({
    name,
    params: { ...fenceParams, results: 'bytea?[]', result_encodings: 'text?[]' },
    row: releasedRow,
    text: `
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::bytea[], $8::text[])
    with ordinality as i (${fenceInput}, result, result_encoding, ordinal)
),
${release('result', 'result_encoding')},
ending as (
  select v.execution_id, v.execution_row, v.is_continued, v.lease_id, v.lease_epoch, v.expires_at_ms, v.attempt_type,
    v.attempt_started_at_ms, v.worker_id, v.worker_instance_id,
    'success'::flowfabric.ff_terminal_outcome as ending_outcome, null::text as ending_reason,
    v.actor as ending_actor, v.now_ms as ended_at_ms, v.result as ending_result, v.result_encoding as ending_encoding,
    null::text as ending_category, null::bytea as ending_error, null::text as ending_error_encoding
  from released v
),
${endThem}
${answer}`,
  })
}

export function completeOperation(sql: Sql, more: MoreToClose): SetOperation<Completion, Completed> {
  const completed = ({ executionId }: CheckedFence): Completed => ({ kind: 'completed', executionId })
  return {
    ...fencedSet<Completion, RowOf<typeof releasedRow>, Completed>(sql, {
      callOf: (items) => call(completePlain, valuesOf(items)),
      wholeCallOf: (items) => call(completeWhole, valuesOf(items)),
      hasMore: (row) => row.has_more === true,
      more,
      writesEvents: true,
      hasEnded: () => true,
      answer: completed,
      repeat: (item, { outcome }) => (outcome === 'success' ? completed(item) : null),
    }),
    bytesOf: (item) => 256 + (item.result?.byteLength ?? 0),
  }
}

function valuesOf(items: readonly Completion[]) {
  return {
    ...fenceValues(items),
    results: items.map((item) => item.result),
    result_encodings: items.map((item) => item.resultEncoding),
  }
}
