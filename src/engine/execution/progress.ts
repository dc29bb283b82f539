// Progress: how far the holder is, for people to read. It outlives the attempt; a field that is omitted keeps its value.
import { whole } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { reason } from '../../model/named-fields.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { SetOperation } from '../kernel/merge.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { fenced } from '../transition/fence.ts'
import { fencedRow, writtenAnswer } from '../transition/fenced-answer.ts'
import { fencedSet } from '../transition/fenced-operation.ts'
import { fencedRequest } from '../transition/fenced-request.ts'

export const progressRequest = fencedRequest('progress', {
  /** 0 to 100. */
  percent: whole({ max: 100 }).optional(),
  message: reason.optional(),
})

export interface ProgressRequest extends RequestOf<typeof progressRequest.fields> {}

export interface ProgressRecorded {
  readonly kind: 'progress_recorded'
  readonly executionId: ExecutionId
}

const progressStatement = statement({
  name: 'execution.progress',
  params: progressRequest.params,
  row: fencedRow,
  text: `
${progressRequest.input},
${fenced(...progressRequest.columns)},
recorded as (
  insert into flowfabric.ff_progress as p (execution_id, updated_at_ms, percent, message)
  select v.execution_id, v.now_ms, v.percent, v.message
  from checked v
  where v.is_held and (v.percent is not null or v.message is not null)
  on conflict (execution_id) do update
  set updated_at_ms = excluded.updated_at_ms,
    percent = coalesce(excluded.percent, p.percent),
    message = coalesce(excluded.message, p.message)
)
${writtenAnswer}`,
})

export function progressOperation(sql: Sql): SetOperation<ItemOf<typeof progressRequest>, ProgressRecorded> {
  return fencedSet(sql, {
    callOf: (items) => call(progressStatement, progressRequest.values(items)),
    writesEvents: false,
    answer: ({ executionId }) => ({ kind: 'progress_recorded', executionId }),
    // Progress that arrives after the lease has ended is refused, also from its last holder.
    repeat: () => null,
  })
}
