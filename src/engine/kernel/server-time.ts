import { readLedgerStatement } from '../../sql/ledger.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { SchemaGuard } from './schema-guard.ts'

const readClock = statement({
  name: 'server-time',
  params: {},
  row: { now_ms: 'int8' },
  text: `select flowfabric.ff_now_ms() as now_ms`,
})

/** The time of the database, whose clock decides everywhere. */
export async function serverTime(sql: Sql): Promise<number> {
  const [row] = await sql.query(readClock, {})
  return row!.now_ms
}

/** The same for callers and probes: refuses when the schema needs newer code than this. */
export async function guardedServerTime(sql: Sql, guard: SchemaGuard): Promise<number> {
  const [[row], ledger] = await sql.pipeline([call(readClock, {}), call(readLedgerStatement, {})])
  guard.notice(ledger)
  guard.check()
  return row!.now_ms
}
