import { DatabaseError } from './errors.ts'
import type { PipelineOptions } from './sql.ts'
import { statement, type Statement } from './statement.ts'

// Set in every transaction: a database may have another default, and the locking of the engine relies on this level.
export const beginReadCommitted = 'begin isolation level read committed'

export function beginText(options: PipelineOptions): string {
  if (options.lockTimeoutMs === undefined) return beginReadCommitted
  return `${beginReadCommitted}; set local lock_timeout = ${timeoutOf(options.lockTimeoutMs)}`
}

/** In the server's form, where 0 means no limit. */
export function timeoutOf(ms: number): number {
  return ms === Infinity ? 0 : Math.max(1, Math.round(ms))
}

// Not among the statements that are described and planned, because these cannot be.
export const begin: Statement = { name: 'sql.begin', params: {}, row: {}, text: beginReadCommitted }
export const commit: Statement = { name: 'sql.commit', params: {}, row: {}, text: 'commit' }

export const limitLockWaits = statement({
  name: 'sql.limit_lock_waits',
  params: { lock_timeout_ms: 'int8' },
  row: { done: 'bool' },
  text: `select set_config('lock_timeout', $1::int8::text, true) is not null as done`,
})

/**
 * For a session behind a pooler: sets the limit for the transaction, unless the role or the database has a shorter
 * limit.
 */
export function limitStatements(timeoutMs: number): Statement {
  const text = `
select case
  when current_setting('statement_timeout')::interval between '1 ms' and '${timeoutMs} ms' then null
  else set_config('statement_timeout', '${timeoutMs}', true)
end`
  return { name: 'sql.limit_statements', params: {}, row: {}, text }
}

/** For statements that may take longer than others. */
export function allowStatements(timeoutMs: number): Statement {
  const text = `select set_config('statement_timeout', '${timeoutOf(timeoutMs)}', true)`
  return { name: 'sql.allow_statements', params: {}, row: {}, text }
}

/** A commit with the reply ROLLBACK: a statement failed, and the caller ignored the failure. */
export function refuseRollback(command: string): void {
  if (command !== 'ROLLBACK') return
  throw new DatabaseError(
    'rolled_back',
    'The transaction was rolled back at commit, because one of its statements had failed',
    'Do not catch the error of a statement inside the transaction function.',
  )
}
