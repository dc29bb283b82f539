// When the next timer goes off. A duty asks after its sweep, so that what is due before the interval is over is met in
// time. What was due when the sweep began does not count: it was processed, or is held by another, or set aside.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

/** `timer` is `table.column`; the column leads an index. */
export function nextTimer(duty: string, timer: string): (sql: Sql, after: number) => Promise<number | null> {
  const [table, column] = timer.split('.')
  const read = statement({
    name: `duty.${duty}.next`,
    params: { after: 'int8' },
    row: { in_ms: 'int8?' },
    text: `
select min(${column}) - flowfabric.ff_now_ms() as in_ms
from flowfabric.${table}
where ${column} > 0 and ${column} > $1`,
  })
  return async (sql, after) => (await sql.query(read, { after }))[0]?.in_ms ?? null
}
