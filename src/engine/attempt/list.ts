// The attempts of an execution, in order: the records of ended and interrupted attempts, and the running one.
import type { FailureCategory } from '../../model/policy.ts'
import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { ascending, orderBy, pageFields, readPage, type PageRequest } from '../kernel/page.ts'
import { visibleExecution } from '../kernel/visible.ts'

export type ListAttemptsRequest = PageRequest

export interface AttemptPage {
  readonly attempts: readonly Attempt[]
  readonly nextCursor: string | null
}

export interface Attempt {
  readonly attemptIndex: number
  readonly generation: number
  readonly type: 'initial' | 'retry' | 'replay'
  /** `running`, or how it ended or was interrupted. */
  readonly outcome: string
  readonly startedAt: number
  /** Null while it runs or can continue. */
  readonly endedAt: number | null
  readonly leaseId: string | null
  readonly leaseEpoch: number
  readonly workerId: string | null
  readonly workerInstanceId: string | null
  readonly failureReason: string | null
  readonly failureCategory: FailureCategory | null
  readonly error: Uint8Array | null
  readonly errorEncoding: string | null
}

const attemptRow = {
  attempt_index: 'int4',
  generation: 'int4',
  attempt_type: oneOf<Attempt['type']>(),
  outcome: 'text',
  started_at_ms: 'int8',
  ended_at_ms: 'int8?',
  lease_id: 'uuid?',
  lease_epoch: 'int8',
  worker_id: 'text?',
  worker_instance_id: 'text?',
  failure_reason: 'text?',
  failure_category: oneOf<FailureCategory | null>(),
  error: 'bytea?',
  error_encoding: 'text?',
} as const

// The row of a leased attempt comes from its lease, also when the attempt has the record of an earlier interruption.
const listStatement = statement({
  name: 'attempt.list',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', attempt_index: 'int8', limit: 'int8' },
  row: attemptRow,
  text: `
select a.attempt_index, a.generation, a.attempt_type, a.outcome, a.started_at_ms, a.ended_at_ms, a.lease_id,
  a.lease_epoch, a.worker_id, a.worker_instance_id, a.failure_reason, a.failure_category, a.error, a.error_encoding
from flowfabric.ff_exec_core e
join flowfabric.ff_attempt a on a.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
  and a.attempt_index > $4::int8
  and (e.lifecycle_phase <> 'active' or a.attempt_index <> e.attempt_index)
union all
select l.attempt_index, e.generation, l.attempt_type, 'running', l.attempt_started_at_ms, null, l.lease_id,
  l.lease_epoch, l.worker_id, l.worker_instance_id, null, null, null, null
from flowfabric.ff_exec_core e
join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
  and l.attempt_index > $4::int8
order by 1
limit $5`,
})

const order = orderBy('attempts', { attempt_index: ascending.int })

/** Empty for an execution that does not exist, or belongs to another namespace. */
export async function listAttempts(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: ListAttemptsRequest,
): Promise<AttemptPage> {
  checkFields('attempts.list', pageFields, request)
  const execution = visibleExecution(caller, executionId)
  const { rows, nextCursor } = await readPage(request, order, (after, limit) =>
    sql.query(listStatement, { ...execution, ...after, limit }),
  )
  return { attempts: rows.map(decodeAttempt), nextCursor }
}

function decodeAttempt(row: RowOf<typeof attemptRow>): Attempt {
  return {
    attemptIndex: row.attempt_index,
    generation: row.generation,
    type: row.attempt_type,
    outcome: row.outcome,
    startedAt: row.started_at_ms,
    endedAt: row.ended_at_ms,
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    workerId: row.worker_id,
    workerInstanceId: row.worker_instance_id,
    failureReason: row.failure_reason,
    failureCategory: row.failure_category,
    error: row.error,
    errorEncoding: row.error_encoding,
  }
}
