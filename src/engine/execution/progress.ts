// Progress: how far the holder is, for people to see. It outlives the attempt; what is left out stays as it was.
import { refusal } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText, show } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import {
  checkFence,
  fenced,
  fenceInput,
  fenceParams,
  fenceValues,
  type Fence,
  type CheckedFence,
} from '../transition/fence.ts'
import { fencedRow, writtenAnswer, type FencedRow } from '../transition/fenced-answer.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { fencedSet } from '../transition/fenced-operation.ts'

export interface ProgressRequest extends Fence {
  /** 0 to 100. */
  readonly percent?: number
  readonly message?: string
}

export interface ProgressRecorded {
  readonly kind: 'progress_recorded'
  readonly executionId: ExecutionId
}

export interface Progress extends CheckedFence {
  readonly percent: number | null
  readonly message: string | null
}

export function checkProgressRequest(caller: Caller, request: ProgressRequest): Progress {
  refuseUnknownFields('progress', request, ['executionId', 'leaseId', 'leaseEpoch', 'percent', 'message'])
  const { percent, message } = request
  if (percent !== undefined && !(Number.isInteger(percent) && percent >= 0 && percent <= 100)) {
    throw refusal('invalid_input', 'percent', show(percent), 'a whole number from 0 to 100')
  }
  return {
    ...checkFence(caller, request),
    percent: percent ?? null,
    message: message === undefined ? null : checkText('message', message, { maxBytes: limits.reasonBytes }),
  }
}

const progressStatement = statement({
  name: 'execution.progress',
  params: { ...fenceParams, percents: 'int2?[]', messages: 'text?[]' },
  row: fencedRow,
  text: `
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::int2[], $8::text[])
    with ordinality as i (${fenceInput}, percent, message, ordinal)
),
${fenced('percent', 'message')},
recorded as (
  insert into flowfabric.ff_progress as p (execution_id, updated_at_ms, percent, message)
  select v.execution_id, v.now_ms, v.percent, v.message
  from verdict v
  where v.is_held and (v.percent is not null or v.message is not null)
  on conflict (execution_id) do update
  set updated_at_ms = excluded.updated_at_ms,
    percent = coalesce(excluded.percent, p.percent),
    message = coalesce(excluded.message, p.message)
)
${writtenAnswer}`,
})

export function progressOperation(sql: Sql): SetOperation<Progress, ProgressRecorded> {
  return fencedSet<Progress, FencedRow, ProgressRecorded>(sql, {
    callOf: (items) =>
      call(progressStatement, {
        ...fenceValues(items),
        percents: items.map((item) => item.percent),
        messages: items.map((item) => item.message),
      }),
    answer: ({ executionId }) => ({ kind: 'progress_recorded', executionId }),
    // A late word on progress changes nothing, whoever sends it.
    repeat: () => null,
  })
}
