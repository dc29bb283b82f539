import { asEngineError } from '../engine/kernel/failure.ts'
import { EngineError } from '../model/errors.ts'
import { DatabaseError } from '../sql/errors.ts'

/** Converts the error of a failed connect to an `EngineError`. */
export function asConnectError(error: unknown): EngineError {
  if (EngineError.is(error) || error instanceof DatabaseError) return asEngineError(error)
  const failure = asEngineError(error)
  if (failure.retryable) return failure
  const message = error instanceof Error ? error.message : String(error)
  return new EngineError('database_error', `the database could not be opened: ${message}`, {}, { cause: error })
}
