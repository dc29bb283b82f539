import pg from 'pg'

export interface Size {
  readonly tables: number
  readonly indexes: number
}

/** By table, in bytes; the blocks of a partitioned one together. */
export type Sizes = ReadonlyMap<string, Size>

const sizes = `
select regexp_replace(relname, '_[0-9]+$', '') as name,
  sum(pg_table_size(oid))::float8 as tables,
  sum(pg_indexes_size(oid))::float8 as indexes
from pg_class
where relnamespace = $1::regnamespace and relkind = 'r'
group by 1
order by sum(pg_total_relation_size(oid)) desc`

export async function measureSize(url: string, schema: string): Promise<Sizes> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<Size & { name: string }>(sizes, [schema])
  await client.end()
  return new Map(rows.map(({ name, tables, indexes }) => [name, { tables, indexes }]))
}

export function sumOf(sizes: Sizes): Size {
  const all = [...sizes.values()]
  return {
    tables: all.reduce((sum, { tables }) => sum + tables, 0),
    indexes: all.reduce((sum, { indexes }) => sum + indexes, 0),
  }
}

/** As autovacuum does in its own time. */
export async function vacuum(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('vacuum')
  await client.end()
}
