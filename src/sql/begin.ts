import { DatabaseError } from './errors.ts'
import type { PipelineOptions } from './sql.ts'

// Said each time, because a database may have another default, and the engine's locking is made for this one.
export const beginReadCommitted = 'begin isolation level read committed'

export function beginText(options: PipelineOptions): string {
  if (options.lockTimeoutMs === undefined) return beginReadCommitted
  return `${beginReadCommitted}; set local lock_timeout = ${Math.max(1, Math.round(options.lockTimeoutMs))}`
}

/** A commit that answers ROLLBACK: a statement failed, and the caller went on as if it had not. */
export function refuseRollback(command: string): void {
  if (command !== 'ROLLBACK') return
  throw new DatabaseError(
    'rolled_back',
    'A transaction was rolled back at its commit, because one of its statements had failed',
    'Let the error of a statement leave the transaction.',
  )
}
