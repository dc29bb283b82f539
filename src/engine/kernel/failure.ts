// Maps the database's errors to the one error table: every error that leaves the engine is an EngineError.
import { EngineError, type ErrorCode } from '../../model/errors.ts'
import { DatabaseError, isConnectionLost, sqlState, type DatabaseReason } from '../../sql/errors.ts'

const codeOf: Readonly<Record<DatabaseReason, ErrorCode>> = {
  bad_url: 'invalid_url',
  unreachable: 'database_unreachable',
  wrong_password: 'database_auth_failed',
  unknown_database: 'database_not_found',
  missing_right: 'database_right_missing',
  directory_locked: 'directory_locked',
  not_installed: 'embedded_not_installed',
  nested_query: 'nested_query',
  no_transaction: 'no_transaction',
  closed: 'engine_closed',
  schema_missing: 'schema_missing',
  schema_outdated: 'schema_outdated',
  schema_differs: 'schema_differs',
  code_too_old: 'code_too_old',
  migration_blocked: 'migration_blocked',
  connection_lost: 'database_unreachable',
  rolled_back: 'database_error',
}

// Serialization failure, deadlock, lock timeout: nothing was written, and the same call may succeed.
const contention: readonly (string | undefined)[] = ['40001', '40P01', '55P03']

const transactionTimeout =
  'transaction_timeout of the role or the database is too short for it: alter role ... set transaction_timeout = 0'

export function asEngineError(error: unknown): EngineError {
  if (EngineError.is(error)) return error
  if (error instanceof DatabaseError) {
    return new EngineError(codeOf[error.reason], error.message, { reason: error.reason }, { cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  if (contention.includes(sqlState(error))) return contended(error)
  if (isConnectionLost(error)) {
    const next = sqlState(error) === '25P04' ? transactionTimeout : 'try again'
    const sentence = `the connection to the database was lost: ${message}; ${next}`
    return new EngineError('database_unreachable', sentence, {}, { cause: error })
  }
  const state = sqlState(error)
  if (state === undefined) {
    return new EngineError('internal_error', `internal error: ${message}`, {}, { cause: error })
  }
  const passing = passingOf(state)
  if (passing !== undefined) {
    const sentence = `the database cannot run the statement now, because ${passing}: ${message}; try again`
    return new EngineError('database_unavailable', sentence, { sqlState: state }, { cause: error })
  }
  if (state === '42501') {
    const sentence = `${message}; as the owner of the tables, run flowfabric migrate --grant-to with the name of this role`
    return new EngineError('database_right_missing', sentence, { sqlState: state }, { cause: error })
  }
  if (state === '42P01' || state === '3F000') {
    const sentence = `${message}; connect once with migrate: true to install the schema`
    return new EngineError('schema_missing', sentence, { sqlState: state }, { cause: error })
  }
  const sentence = `the database rejected the statement: ${message}`
  return new EngineError('database_error', sentence, { sqlState: state }, { cause: error })
}

/** Conditions that pass, or that an operator repairs. Nothing was written, and the same call may succeed. */
function passingOf(state: string): string | undefined {
  if (state === '25006') return 'it is read-only, as after a failover'
  if (state === '57014')
    return 'the statement was cancelled, by an operator or by a timeout of the role or the database'
  if (state === '53100') return 'its disk is full'
  if (state === '53200') return 'it is out of memory'
  if (state === '53300') return 'it has too many connections'
  return state.startsWith('53') ? 'it has exhausted a resource' : undefined
}

/** An item's own error is the answer to that item alone; any other error fails the whole set. */
export function asOwnAnswer(error: unknown): EngineError {
  if (EngineError.is(error)) return error
  throw error
}

export function contended(cause?: unknown): EngineError {
  const options = cause === undefined ? undefined : { cause }
  return new EngineError(
    'contended',
    'another transaction has locked rows that this call needs; try again',
    {},
    options,
  )
}

/** The same result; a rejection becomes an EngineError. */
export async function orEngineError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw asEngineError(error)
  }
}

/** The database's own error behind the EngineError of a session, for code that decides by it. */
export function databaseErrorOf(error: unknown): unknown {
  return EngineError.is(error) ? (error.cause ?? error) : error
}
