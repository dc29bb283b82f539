import { parseExecutionId } from '../../model/id.ts'
import { abortSignal } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { wait } from '../../model/named-fields.ts'
import type { PublicState } from '../../model/state.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'
import { outlast } from '../kernel/outlast.ts'
import type { Endings } from './endings.ts'

export const resultFields = {
  /** How long to wait for it to end; defaults to no wait. */
  wait: wait.default(0).describe('How long to wait for it to end, a minute at most.'),
  /** Ends the wait early. */
  signal: abortSignal(),
}

export interface ResultRequest extends RequestOf<typeof resultFields> {}

export type ExecutionResult =
  | { readonly kind: 'pending'; readonly publicState: PublicState }
  | {
      readonly kind: 'completed'
      /** Null when it completed without a result. */
      readonly result: Uint8Array | null
      readonly encoding: string | null
    }
  | {
      readonly kind: 'failed' | 'cancelled' | 'expired' | 'skipped'
      readonly reason: string | null
    }

const readResult = statement({
  name: 'execution.result',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: {
    public_state: oneOf<PublicState>(),
    result: 'bytea?',
    result_encoding: 'text?',
    reason: 'text?',
  },
  text: `
select e.public_state, r.result, r.result_encoding, coalesce(e.failure_reason, e.cancellation_reason) as reason
from flowfabric.ff_exec_core e
left join flowfabric.ff_exec_result r on r.execution_id = any (array[e.execution_id]) and r.generation = e.generation
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)`,
})

/**
 * The ending of an execution. With `wait` it returns as soon as the execution has ended, at the latest when the time is
 * over.
 */
export async function result(
  sql: Sql,
  endings: Endings,
  caller: Caller,
  executionId: string,
  request: ResultRequest,
): Promise<ExecutionResult | null> {
  const { waitMs, signal } = checkFields('result', resultFields, request)
  const until = performance.now() + waitMs
  const readNow = (): Promise<ExecutionResult | null> => read(sql, caller, executionId)
  const found = await outlast({ until, signal }, readNow)
  if (found?.kind !== 'pending' || waitMs === 0 || signal?.aborted === true) return found
  await endings.wait(parseExecutionId(executionId).uuid, until - performance.now(), signal)
  return outlast({ until }, readNow)
}

async function read(sql: Sql, caller: Caller, executionId: string): Promise<ExecutionResult | null> {
  const [row] = await sql.query(readResult, visibleExecution(caller, executionId))
  if (row === undefined) return null
  switch (row.public_state) {
    case 'completed':
      return { kind: 'completed', result: row.result, encoding: row.result_encoding }
    case 'failed':
    case 'cancelled':
    case 'expired':
    case 'skipped':
      return { kind: row.public_state, reason: row.reason }
    default:
      return { kind: 'pending', publicState: row.public_state }
  }
}
