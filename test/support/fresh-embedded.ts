// An embedded database that is cleared and used again. Starting one takes seconds, a copy of a migrated one 400 ms, a
// fresh schema 40 ms and cold plans, emptying the tables that have rows a few (all measured), and statements stay prepared.
// A test that changed the schema gets its wish: that database is thrown away.
import { openEmbedded } from '../../src/sql/pglite.ts'
import type { EmbeddedSql } from '../../src/sql/pglite.ts'
import type { FreshDatabase } from './fresh-database.ts'
import { migrateAll } from './migrate-all.ts'

interface Embedded {
  readonly sql: EmbeddedSql
  readonly pristine: Shape
}

const idle: Embedded[] = []

export async function freshEmbedded(): Promise<FreshDatabase> {
  const embedded = idle.pop() ?? (await open())
  return {
    sql: embedded.sql,
    url: 'memory:',
    end: async () => {
      if (await clear(embedded)) idle.push(embedded)
      else await embedded.sql.close()
      return []
    },
  }
}

async function open(): Promise<Embedded> {
  const sql = await openEmbedded({ directory: null, schema: 'flowfabric' })
  await migrateAll(sql)
  const pristine = await readShape(sql)
  const seeded = await findFilled(sql, pristine.tables)
  if (seeded.length > 0) throw new Error(`a migration fills ${seeded.join(', ')}, which clearing would lose`)
  return { sql, pristine }
}

interface Shape {
  readonly fingerprint: string
  readonly tables: readonly string[]
  readonly sequences: readonly string[]
}

// Everything that a migration could have made. Functions with their text, since the clock is one.
async function readShape({ pglite }: EmbeddedSql): Promise<Shape> {
  const { rows } = await pglite.query<Shape>(`
    with relation as (
      select oid, relkind, relispartition, format('%I.%I', relnamespace::regnamespace, relname) as name,
        concat_ws(' ', oid, relname, relkind, relnatts, relchecks, relispartition, relhastriggers) as line
      from pg_class
      where relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
    ), line (text) as (
      select line from relation
      union all
      select concat_ws(' ', oid, proname, prosrc) from pg_proc where pronamespace = 'flowfabric'::regnamespace
      union all
      select concat_ws(' ', oid, enumlabel) from pg_enum
    )
    select
      (select md5(string_agg(text, chr(10) order by text)) from line) as fingerprint,
      (select array_agg(name) from relation
        where relkind in ('r', 'p') and not relispartition and name <> 'flowfabric.ff_migration') as tables,
      (select coalesce(array_agg(name), '{}') from relation where relkind = 'S') as sequences`)
  return rows[0]!
}

/** False when the database is no longer what the migrations made, or was closed by the test. */
async function clear({ sql, pristine }: Embedded): Promise<boolean> {
  if (sql.pglite.closed) return false
  const now = await readShape(sql)
  if (now.fingerprint !== pristine.fingerprint) return false
  const filled = await findFilled(sql, pristine.tables)
  const truncate = filled.length === 0 ? '' : `truncate ${filled.join(', ')} cascade;`
  const restart = pristine.sequences.map((sequence) => `alter sequence ${sequence} restart;`)
  await sql.pglite.exec([truncate, ...restart].join('\n'))
  return true
}

async function findFilled({ pglite }: EmbeddedSql, tables: readonly string[]): Promise<string[]> {
  const looks = tables.map((table) => `select '${table}' as name where exists (select from ${table})`)
  const { rows } = await pglite.query<{ name: string }>(looks.join(' union all '))
  return rows.map((row) => row.name)
}
