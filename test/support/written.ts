// Whether anything was written: every table of the schema, with the number of its rows and a digest of what they hold.
import { expect } from 'vitest'
import type { Sql } from '../../src/sql/sql.ts'
import { rows } from './raw.ts'

const tables = `
select relname::text as name
from pg_class
where relnamespace = 'flowfabric'::regnamespace and relkind in ('r', 'p') and not relispartition
order by relname`

/** Table by table; a row that is changed shows like one that is new. */
export async function contents(sql: Sql): Promise<Record<string, string>> {
  const found = await rows(sql, tables)
  const looks = found.map(
    ({ name }) =>
      `select '${name as string}' as name, concat(count(*), ' rows ', md5(string_agg(t::text, '|' order by t::text))) as held
       from flowfabric.${name as string} t`,
  )
  const held = await rows(sql, looks.join(' union all '))
  return Object.fromEntries(held.map((row) => [row['name'], row['held']])) as Record<string, string>
}

/** Runs the work and holds every table against what it was before. */
export async function withoutWriting<T>(sql: Sql, work: () => Promise<T>, what?: string): Promise<T> {
  const before = await contents(sql)
  const answer = await work()
  expect(await contents(sql), what).toEqual(before)
  return answer
}
