// The result of a create: its own new execution, or the existing one.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import type { PublicState } from '../../model/state.ts'
import type { AppliedPolicy } from '../../model/task-policy.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'
import type { NewExecution } from '../transition/new-execution.ts'

export type CreateResult = Created | Duplicate

export interface Created {
  readonly kind: 'created'
  readonly executionId: ExecutionId
  readonly publicState: PublicState
  /** Values that were adjusted. */
  readonly adjusted?: { readonly priority: { readonly given: number; readonly used: number } }
  /** Missing only if the client sent the request again after a lost reply. */
  readonly applied?: AppliedPolicy
}

export interface Duplicate {
  readonly kind: 'duplicate'
  /** The id of the first one. */
  readonly executionId: ExecutionId
  readonly publicState: PublicState
}

export const existingRow = {
  ordinal: 'int8',
  existing_id: 'uuid?',
  existing_partition: 'int2?',
  existing_namespace: 'text?',
  existing_request_hash: 'bytea?',
  public_state: oneOf<PublicState>(),
} as const

export type ExistingRow = RowOf<typeof existingRow>

export function created(item: NewExecution, publicState: PublicState): Created {
  const { executionId, priority, givenPriority, applied } = item
  if (priority === givenPriority) return { kind: 'created', executionId, publicState, applied }
  const adjusted = { priority: { given: givenPriority, used: priority } }
  return { kind: 'created', executionId, publicState, adjusted, applied }
}

export function answerOf(item: NewExecution, row: ExistingRow, again: boolean): CreateResult | EngineError {
  // An id that we minted and sent before exists only because that send was committed and its reply lost.
  const isOwn = row.existing_id === null || (again && item.minted && row.existing_id === item.uuid)
  return isOwn ? created(item, row.public_state) : duplicateOf(item, row)
}

function duplicateOf(item: NewExecution, row: ExistingRow): Duplicate | EngineError {
  const { executionId } = item
  if (row.existing_request_hash === null) {
    // Only the id exists. An execution of another namespace, or another partition, is no duplicate.
    if (row.existing_namespace === item.queue.namespace && row.existing_partition === item.partition) {
      return { kind: 'duplicate', executionId, publicState: row.public_state }
    }
    return new EngineError('execution_id_taken', `execution id ${executionId} is already used; choose another`, {
      executionId,
    })
  }
  const first = formatExecutionId(item.partition, row.existing_id!)
  if (Buffer.compare(row.existing_request_hash, item.requestHash!) === 0) {
    return { kind: 'duplicate', executionId: first, publicState: row.public_state }
  }
  return new EngineError(
    'idempotency_conflict',
    `idempotency key '${item.idempotencyKey}' was already used for a different request, which created ${first}; use another key, or repeat that request`,
    { idempotencyKey: item.idempotencyKey, executionId: first },
  )
}
