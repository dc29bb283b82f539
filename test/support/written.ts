// Checks whether anything was written: every table of the schema, with the number of its rows and a digest of their
// content.
import { expect } from 'vitest'
import type { Sql } from '../../src/sql/sql.ts'
import { rows } from './raw.ts'

const tables = `
select relname::text as name
from pg_class
where relnamespace = 'flowfabric'::regnamespace and relkind in ('r', 'p') and not relispartition
order by relname`

/** Counts and digests by table; a changed row shows like a new one. */
export async function contents(sql: Sql): Promise<Record<string, string>> {
  const found = await rows(sql, tables)
  const selects = found.map(
    ({ name }) =>
      `select '${name as string}' as name, concat(count(*), ' rows ', md5(string_agg(t::text, '|' order by t::text))) as held
       from flowfabric.${name as string} t`,
  )
  const held = await rows(sql, selects.join(' union all '))
  return Object.fromEntries(held.map((row) => [row['name'], row['held']])) as Record<string, string>
}

/** Runs the work and compares every table with its content before. */
export async function withoutWriting<T>(sql: Sql, work: () => Promise<T>, what?: string): Promise<T> {
  const before = await contents(sql)
  const answer = await work()
  expect(await contents(sql), what).toEqual(before)
  return answer
}
