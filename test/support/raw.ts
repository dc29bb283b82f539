// SQL of tests, for rows that no engine operation reads or breaks.
import type { Queries } from '../../src/sql/sql.ts'

export type Row = Readonly<Record<string, unknown>>

/** Both databases decode by the column's type, so the rows need no declaration. */
export async function rows(sql: Queries, text: string): Promise<Row[]> {
  return sql.query({ name: 'test.rows', params: {}, row: {}, text }, {})
}

/** Inserts one row, by column name; omitted columns take their defaults. */
export function insert(sql: Queries, table: string, row: Row): Promise<void> {
  return send(sql, table, row, '')
}

/** Like `insert`, but does nothing when the row exists already. */
export function insertNew(sql: Queries, table: string, row: Row): Promise<void> {
  return send(sql, table, row, 'on conflict do nothing')
}

async function send(sql: Queries, table: string, row: Row, onConflict: string): Promise<void> {
  const columns = Object.keys(row).join(', ')
  const text = `
insert into flowfabric.${table} (${columns})
select ${columns}
from jsonb_populate_record(null::flowfabric.${table}, $1)
${onConflict}`
  await sql.query({ name: 'test.insert', params: { row: 'jsonb' }, row: {}, text }, { row })
}
