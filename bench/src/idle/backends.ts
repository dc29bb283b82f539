// The usage of the backends of one database so far.
import { readFile } from 'node:fs/promises'
import type pg from 'pg'

export interface Usage {
  readonly transactionCount: number
  /** By the pid of the backend. */
  readonly processorMs: ReadonlyMap<number, number>
}

const countTransactions = `
select xact_commit + xact_rollback as count from pg_stat_database where datname = $1`

const findBackends = `
select pid from pg_stat_activity where datname = $1`

/** `admin` is connected to another database, so that it is not counted. */
export async function readUsage(admin: pg.Client, database: string): Promise<Usage> {
  const counts = await admin.query<{ count: string }>(countTransactions, [database])
  const backends = await admin.query<{ pid: number }>(findBackends, [database])
  const processorMs = new Map<number, number>()
  for (const { pid } of backends.rows) processorMs.set(pid, await processorTime(pid))
  return { transactionCount: Number(counts.rows[0]!.count), processorMs }
}

/** From one reading to the next. A backend that ended meanwhile is not counted; a new one is counted in full. */
export function usageBetween(before: Usage, after: Usage): { transactionCount: number; processorMs: number } {
  const used = [...after.processorMs].map(([pid, ms]) => ms - (before.processorMs.get(pid) ?? 0))
  return {
    transactionCount: after.transactionCount - before.transactionCount,
    processorMs: used.reduce((sum, ms) => sum + ms, 0),
  }
}

// In nanoseconds; Linux only.
async function processorTime(pid: number): Promise<number> {
  const [runNs] = (await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')
  return Number(runNs) / 1e6
}
