// The suspension that an execution is in, or the last one of its generation and how that ended.
import { describeActor } from '../../../model/actor.ts'
import type { Evaluation } from '../../../model/condition-evaluate.ts'
import type { Condition } from '../../../model/condition.ts'
import { formatExecutionId, type ExecutionId } from '../../../model/id.ts'
import type { CloseReason } from '../../../model/suspension.ts'
import type { Sql } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'
import { visibleExecution } from '../../kernel/visible.ts'
import { decodeSuspension, suspensionColumns, suspensionRow, type Suspension } from './suspension.ts'

export interface SuspensionDetail extends Suspension {
  readonly executionId: ExecutionId
  readonly attemptIndex: number
  readonly condition: Condition
  readonly requestedBy: string
  readonly idempotencyKey: string | null
  readonly resumeDelayMs: number | null
  /** When time alone will satisfy the condition, as far as is known. */
  readonly wakeAt: number | null
  /** Null while it lasts. */
  readonly closedAt: number | null
  readonly closeReason: CloseReason | null
  /** The decision on the condition when the suspension ended; null while it is open, and when an operator resumed. */
  readonly outcome: Pick<Evaluation, 'satisfied' | 'winners' | 'satisfiedLeaves' | 'satisfiers' | 'signals'> | null
}

const describeStatement = statement({
  name: 'suspension.describe',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: {
    ...suspensionRow,
    execution_id: 'uuid',
    partition_key: 'int2',
    attempt_index: 'int4',
    condition: 'jsonb',
    requested_by: 'text',
    idempotency_key: 'text?',
    resume_delay_ms: 'int8?',
    wake_at_ms: 'int8?',
    closed_at_ms: 'int8?',
    close_reason: 'text?',
    outcome: 'jsonb?',
  },
  text: `
select ${suspensionColumns}, s.execution_id, s.partition_key, s.attempt_index, s.condition, s.requested_by,
  s.idempotency_key, s.resume_delay_ms, s.wake_at_ms, s.closed_at_ms, s.close_reason, s.outcome
from flowfabric.ff_exec_core e
join flowfabric.ff_suspension_current s on s.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
  and s.generation = e.generation`,
})

export async function describeSuspension(
  sql: Sql,
  caller: Caller,
  executionId: string,
): Promise<SuspensionDetail | null> {
  const [row] = await sql.query(describeStatement, visibleExecution(caller, executionId))
  if (row === undefined) return null
  return {
    ...decodeSuspension(row)!,
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    attemptIndex: row.attempt_index,
    condition: row.condition as Condition,
    requestedBy: describeActor(row.requested_by),
    idempotencyKey: row.idempotency_key,
    resumeDelayMs: row.resume_delay_ms,
    wakeAt: row.wake_at_ms,
    closedAt: row.closed_at_ms,
    closeReason: row.close_reason as CloseReason | null,
    outcome: decodeOutcome(row.outcome as Evaluation | null),
  }
}

function decodeOutcome(evaluation: Evaluation | null): SuspensionDetail['outcome'] {
  if (evaluation === null) return null
  const { satisfied, winners, satisfiedLeaves, satisfiers, signals } = evaluation
  return { satisfied, winners, satisfiedLeaves, satisfiers, signals }
}
