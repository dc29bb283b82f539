// Reads for health checks: read only, within a time limit, and without waiting for a lock.
import { scanningAllowed } from '../../sql/plan-settings.ts'
import { sqlState } from '../../sql/errors.ts'
import type { Queries, Sql } from '../../sql/sql.ts'
import { asEngineError } from '../kernel/failure.ts'
import { finding, type Finding } from './finding.ts'

export interface CheckDeps {
  readonly sql: Sql
  /** No statement takes longer. */
  readonly timeoutMs: number
}

export async function readOnly<T>({ sql, timeoutMs }: CheckDeps, read: (tx: Queries) => Promise<T>): Promise<T> {
  const work = async (tx: Queries): Promise<T> => {
    await tx.script(
      `set transaction read only; set local statement_timeout = ${timeoutMs}; set local lock_timeout = 500; ${scanningAllowed}`,
    )
    return read(tx)
  }
  return sql.transaction(work, { statementTimeoutMs: timeoutMs })
}

/** A failed check is a finding too, and does not stop the others. */
export async function orUnknown(check: string, find: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await find()
  } catch (error) {
    const state = sqlState(error)
    if (state === '57014') {
      const next = 'Raise the timeout, or check again when the database is less busy.'
      return [finding(check, 'unknown', 'The check timed out.', { next })]
    }
    if (state === '42501')
      return [finding(check, 'unknown', `This role lacks the permission to check it: ${(error as Error).message}.`)]
    const { code, message } = asEngineError(error)
    if (code === 'engine_closed' || code === 'database_unreachable') throw error
    return [finding(check, 'unknown', `The check failed: ${message}.`)]
  }
}
