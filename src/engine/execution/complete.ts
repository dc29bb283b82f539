// Complete: the holder has done the work; the result is stored with the ending.
import { bytes, encodingOf } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { fencedToRelease, fencedToReleaseWhole, type CheckedFence } from '../transition/fence.ts'
import { fencedRequest } from '../transition/fenced-request.ts'
import { releasedAnswer, releasedRow, releasedWholeAnswer } from '../transition/fenced-answer.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { endReleased, endReleasedWhole } from '../transition/ending.ts'
import { fencedSet } from '../transition/fenced-operation.ts'
import type { MoreToClose } from '../transition/more-to-close.ts'

export const completeRequest = fencedRequest('complete', {
  result: bytes({ maxBytes: limits.resultBytes, advice: 'Keep it elsewhere and return a reference' }).optional(),
  /** How to read the result; defaults to `json`. */
  resultEncoding: encodingOf('result'),
})

export interface CompleteRequest extends RequestOf<typeof completeRequest.fields> {}

type Completion = ItemOf<typeof completeRequest>

export interface Completed {
  readonly kind: 'completed'
  readonly executionId: ExecutionId
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
    params: completeRequest.params,
    row: releasedRow,
    text: `
${completeRequest.input},
${release(...completeRequest.columns)},
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
      callOf: (items) => call(completePlain, completeRequest.values(items)),
      wholeCallOf: (items) => call(completeWhole, completeRequest.values(items)),
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
