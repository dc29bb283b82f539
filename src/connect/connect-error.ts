// What the database seam says of a failed connect, in the words of the one error table.
import { EngineError, type ErrorCode } from '../model/errors.ts'
import { DatabaseError, type DatabaseReason } from '../sql/errors.ts'

const codeOf: Readonly<Record<DatabaseReason, ErrorCode>> = {
  bad_url: 'invalid_url',
  unreachable: 'database_unreachable',
  wrong_password: 'database_auth_failed',
  unknown_database: 'database_not_found',
  missing_right: 'database_right_missing',
  directory_locked: 'directory_locked',
  nested_query: 'nested_query',
  closed: 'engine_closed',
  schema_missing: 'schema_missing',
  schema_outdated: 'schema_outdated',
  schema_differs: 'schema_outdated',
  code_too_old: 'code_too_old',
  connection_lost: 'database_unreachable',
  rolled_back: 'database_error',
}

export function asConnectError(error: unknown): EngineError {
  if (EngineError.is(error)) return error
  if (error instanceof DatabaseError) {
    return new EngineError(codeOf[error.reason], error.message, { reason: error.reason }, { cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  return new EngineError('database_error', `the database could not be opened: ${message}`, {}, { cause: error })
}
