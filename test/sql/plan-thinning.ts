// The statistics that a vacuum leaves for a table that was full a moment ago: pages with one row, or none. The rows return
// afterwards and the statistics stay, as they do until the next vacuum.
import type pg from 'pg'
import { emptyingTables } from './plan-faults.ts'

/** The remaining row is the last of its table, so the vacuum cannot free the pages. */
const leftOver = {
  'pages and one row': (table: string) => `ctid <> (select max(ctid) from flowfabric.${table})`,
  nothing: () => 'true',
} as const

export async function empty(client: pg.Client, left: keyof typeof leftOver): Promise<void> {
  for (const table of emptyingTables) {
    await client.query(`create temporary table if not exists kept_${table} as select * from flowfabric.${table}`)
    await client.query(`delete from flowfabric.${table} where ${leftOver[left](table)}`)
    await client.query(`vacuum (analyze) flowfabric.${table}`)
  }
}

export async function refill(client: pg.Client): Promise<void> {
  for (const table of emptyingTables) {
    await client.query(
      `insert into flowfabric.${table} overriding system value select * from kept_${table} on conflict do nothing`,
    )
  }
}
