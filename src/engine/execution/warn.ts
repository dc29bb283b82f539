// Warn: the holder tells of something that whoever reads the execution's history should know. It changes nothing.
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { parseJson, type Json } from '../../model/json.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText } from '../../model/text.ts'
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

export interface WarnRequest extends Fence {
  /** One sentence for people. */
  readonly reason: string
  /** Plain JSON, for programs. */
  readonly details?: Json
}

export interface Warned {
  readonly kind: 'warned'
  readonly executionId: ExecutionId
}

export interface Warning extends CheckedFence {
  readonly reason: string
  readonly details: Json
}

const detailsRule = { code: 'invalid_input', maxDepth: 8, maxTextBytes: limits.reasonBytes } as const

export function checkWarnRequest(caller: Caller, request: WarnRequest): Warning {
  refuseUnknownFields('warn', request, ['executionId', 'leaseId', 'leaseEpoch', 'reason', 'details'])
  const { reason, details = null } = request
  return {
    ...checkFence(caller, request),
    reason: checkText('reason', reason, { minBytes: 1, maxBytes: limits.reasonBytes }),
    details: parseJson('details', details, detailsRule),
  }
}

const warnStatement = statement({
  name: 'execution.warn',
  params: { ...fenceParams, reasons: 'text?[]', details: 'jsonb?[]' },
  row: fencedRow,
  text: `
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[], $8::jsonb[])
    with ordinality as i (${fenceInput}, reason, details, ordinal)
),
${fenced('reason', 'details')},
told as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, attempt_index, details)
  select v.now_ms, e.execution_id, e.flow_id, e.generation, 'warned', e.partition_key, e.namespace, v.actor, v.reason,
    e.attempt_index, v.details
  from verdict v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  where v.is_held
)
${writtenAnswer}`,
})

export function warnOperation(sql: Sql): SetOperation<Warning, Warned> {
  return {
    ...fencedSet<Warning, FencedRow, Warned>(sql, {
      callOf: (items) =>
        call(warnStatement, {
          ...fenceValues(items),
          reasons: items.map((item) => item.reason),
          details: items.map((item) => item.details),
        }),
      answer: ({ executionId }) => ({ kind: 'warned', executionId }),
      repeat: () => null,
    }),
    bytesOf: (item) => 256 + item.reason.length,
  }
}
