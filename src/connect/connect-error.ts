import { asEngineError } from '../engine/kernel/failure.ts'
import { EngineError } from '../model/errors.ts'
import { DatabaseError } from '../sql/errors.ts'

/** What the database seam says of a failed connect, in the words of the one error table. */
export function asConnectError(error: unknown): EngineError {
  if (EngineError.is(error) || error instanceof DatabaseError) return asEngineError(error)
  const failure = asEngineError(error)
  if (failure.retryable) return failure
  const message = error instanceof Error ? error.message : String(error)
  return new EngineError('database_error', `the database could not be opened: ${message}`, {}, { cause: error })
}
