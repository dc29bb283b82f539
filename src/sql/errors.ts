// Errors between this process and the database, apart from those of statements: a statement that the server refuses
// throws the error of the driver, whose `code` is the SQLSTATE.

export type DatabaseReason =
  | 'bad_url'
  | 'unreachable'
  | 'wrong_password'
  | 'unknown_database'
  | 'missing_right'
  | 'directory_locked'
  | 'not_installed'
  | 'nested_query'
  | 'no_transaction'
  | 'closed'
  | 'schema_missing'
  | 'schema_outdated'
  | 'schema_differs'
  | 'code_too_old'
  | 'migration_blocked'
  | 'connection_lost'
  | 'rolled_back'

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  readonly reason: DatabaseReason
  /** The next step; also the end of the message. */
  readonly hint: string
  /** The SQLSTATE of the server, if a reply of the server is the cause. */
  readonly sqlState: string | undefined

  constructor(reason: DatabaseReason, sentence: string, hint: string, cause?: unknown) {
    super(`${sentence}. ${hint}`, cause === undefined ? undefined : { cause })
    this.reason = reason
    this.hint = hint
    this.sqlState = sqlState(cause)
  }
}

/** The SQLSTATE in an error of the server. A system error such as EPIPE has five capitals too, but no severity. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.sqlState
  if (!(error instanceof Error)) return undefined
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}

// Shutdown, crash, not accepting yet, idle session, idle in transaction, long transaction: the server ended the session.
const sessionEnded = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04'])

/** The connection is gone. Whether the last call took effect is unknown, and another connection may work. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.reason === 'connection_lost' || error.reason === 'unreachable'
  const state = sqlState(error)
  if (state === undefined) return false
  return sessionEnded.has(state) || state.startsWith('08')
}
