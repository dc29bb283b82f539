// Warn: the holder records something that readers of the execution's history should know. It changes nothing else.
import { json } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { neededReason } from '../../model/named-fields.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { SetOperation } from '../kernel/merge.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { fenced } from '../transition/fence.ts'
import { fencedRow, writtenAnswer, type FencedRow } from '../transition/fenced-answer.ts'
import { fencedSet } from '../transition/fenced-operation.ts'
import { fencedRequest } from '../transition/fenced-request.ts'

export const warnRequest = fencedRequest('warn', {
  /** One sentence for people. */
  reason: neededReason,
  /** Plain JSON, for programs. */
  details: json({ maxDepth: 8, maxTextBytes: limits.reasonBytes }).optional(),
})

export interface WarnRequest extends RequestOf<typeof warnRequest.fields> {}

type Warning = ItemOf<typeof warnRequest>

export interface Warned {
  readonly kind: 'warned'
  readonly executionId: ExecutionId
}

const warnStatement = statement({
  name: 'execution.warn',
  params: warnRequest.params,
  row: fencedRow,
  text: `
${warnRequest.input},
${fenced(...warnRequest.columns)},
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, attempt_index, details)
  select v.now_ms, e.execution_id, e.flow_id, e.generation, 'warned', e.partition_key, e.namespace, v.actor, v.reason,
    e.attempt_index, v.details
  from checked v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  where v.is_held
)
${writtenAnswer}`,
})

export function warnOperation(sql: Sql): SetOperation<Warning, Warned> {
  return {
    ...fencedSet<Warning, FencedRow, Warned>(sql, {
      callOf: (items) => call(warnStatement, warnRequest.values(items)),
      writesEvents: true,
      answer: ({ executionId }) => ({ kind: 'warned', executionId }),
      repeat: () => null,
    }),
    bytesOf: (item) => 256 + item.reason.length,
  }
}
