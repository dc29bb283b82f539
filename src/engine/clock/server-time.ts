import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

const readClock = statement({
  name: 'server-time',
  params: {},
  row: { now_ms: 'int8' },
  text: `select flowfabric.ff_now_ms() as now_ms`,
})

/** The one clock that decides: the database's. */
export async function serverTime(sql: Sql): Promise<number> {
  const [row] = await sql.query(readClock, {})
  return row!.now_ms
}
