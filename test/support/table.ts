// The stored rows of one kind. Tests read and change rows only through this class: only test/support/ contains the names of
// tables.
import type { Columns, RowOf } from '../../src/sql/statement.ts'
import type { Queries } from '../../src/sql/sql.ts'
import { insert, rows, type Row as AnyRow } from './raw.ts'

/** A column that is not null, in a match. */
export const present = Symbol('present')

type Plain = string | number | boolean | null
/** Which rows: all columns have these values, or a condition in SQL over the columns. Ids of the API match as they are. */
export type Match<R> = { readonly [K in keyof R]?: Extract<R[K], Plain> | Plain | typeof present } | string
/** The values to write, or assignments in SQL. */
export type Change<R> = { readonly [K in keyof R]?: Plain } | string

type LockMode = 'share' | 'exclusive' | 'access exclusive'
type RowLockMode = 'no key update' | 'update'

export class Table<const C extends Columns, R = RowOf<C>> {
  readonly name: string
  readonly columns: C
  readonly qualified: string
  readonly #order: string

  /** The columns are declared for their types and for the test that compares them with the database. */
  constructor(name: string, columns: C, order: string) {
    this.name = name
    this.columns = columns
    this.qualified = `flowfabric.${name}`
    this.#order = order
  }

  /** All of the columns, in the usual order of such rows. */
  async all(sql: Queries, match?: Match<R>, order?: string): Promise<R[]> {
    return (await rows(sql, this.selecting('*', match, order))) as R[]
  }

  /** These columns alone, so that a test can compare whole rows. */
  async pick<const K extends keyof R & string>(
    sql: Queries,
    columns: readonly K[],
    match?: Match<R>,
    order?: string,
  ): Promise<Pick<R, K>[]> {
    return (await rows(sql, this.selecting(columns.join(', '), match, order))) as Pick<R, K>[]
  }

  /** The only row of its kind. */
  async one(sql: Queries, match?: Match<R>): Promise<R> {
    const found = await this.all(sql, match)
    if (found.length !== 1) throw new Error(`${found.length} rows of ${this.name} match; the test expects one`)
    return found[0]!
  }

  async count(sql: Queries, match?: Match<R>): Promise<number> {
    const [row] = await rows(sql, `select count(*)::int4 as count from ${this.qualified}${where(match)}`)
    return row!['count'] as number
  }

  /** A row with these columns, in the JSON that Postgres reads; the others take their defaults. */
  add(sql: Queries, row: { readonly [K in keyof R]?: unknown }): Promise<void> {
    return insert(sql, this.name, row)
  }

  change(sql: Queries, change: Change<R>, match?: Match<R>): Promise<void> {
    return sql.script(this.changing(change, match))
  }

  remove(sql: Queries, match?: Match<R>): Promise<void> {
    return sql.script(this.removing(match))
  }

  /** The physical version of each row; a lock changes it as well as a write. */
  async versions(sql: Queries): Promise<AnyRow[]> {
    return rows(sql, this.selecting('ctid::text, xmin::text, xmax::text'))
  }

  /** Adds copies of the only row, each changed by SQL expressions over `n`, the number of the copy. */
  multiply(sql: Queries, count: number, changed: Readonly<Record<string, string>>): Promise<void> {
    return sql.script(this.multiplying(count, changed))
  }

  /** Hides the rows while the work runs, as in a schema that lacks the table. */
  async whileAway<T>(sql: Queries, work: () => Promise<T>): Promise<T> {
    await sql.script(`alter table ${this.qualified} rename to ${this.name}_away`)
    const result = await work()
    await sql.script(`alter table ${this.qualified}_away rename to ${this.name}`)
    return result
  }

  /** Removes the rows and returns the function that restores them. */
  async takeAway(sql: Queries, match?: Match<R>): Promise<() => Promise<void>> {
    const kept = `public.${this.name}_kept`
    await sql.script(`create table ${kept} as select * from ${this.qualified}${where(match)}; ${this.removing(match)}`)
    return () => sql.script(`insert into ${this.qualified} table ${kept}; drop table ${kept}`)
  }

  /** Makes the database refuse writes of the matching rows, until the test calls the returned function. */
  async refuse(
    sql: Queries,
    write: 'insert' | 'update' | 'delete',
    { match, message, code = 'P0001' }: { match: Match<R>; message: string; code?: string },
  ): Promise<() => Promise<void>> {
    const condition = conditions(match, write === 'insert' ? 'new.' : 'old.').join(' and ')
    await sql.script(`
      create function flowfabric.refuse() returns trigger language plpgsql as
        $$ begin raise exception '${message}' using errcode = '${code}'; end $$;
      create trigger refuse before ${write} on ${this.qualified}
        for each row when (${condition}) execute function flowfabric.refuse()`)
    return () => sql.script('drop function flowfabric.refuse cascade')
  }

  // Texts, for connections that tests hold open themselves.

  selecting(columns: string, match?: Match<R>, order = this.#order): string {
    return `select ${columns} from ${this.qualified}${where(match)} order by ${order}`
  }

  changing(change: Change<R>, match?: Match<R>): string {
    const assignments =
      typeof change === 'string'
        ? change
        : Object.entries(change)
            .map(([column, value]) => `${column} = ${literal(value as Plain)}`)
            .join(', ')
    return `update ${this.qualified} set ${assignments}${where(match)}`
  }

  removing(match?: Match<R>): string {
    return `delete from ${this.qualified}${where(match)}`
  }

  multiplying(count: number, changed: Readonly<Record<string, string>>): string {
    const changes = Object.entries(changed).map(([column, expression]) => `'${column}', ${expression}`)
    return `insert into ${this.qualified}
      select (copy).* from (
        select jsonb_populate_record(original, jsonb_build_object(${changes.join(', ')})) as copy
        from ${this.qualified} original cross join generate_series(1, ${count}) n
      ) copies`
  }

  lockingRows(mode: RowLockMode, match?: Match<R>): string {
    return `select from ${this.qualified}${where(match)} for ${mode}`
  }

  lockingTable(mode: LockMode): string {
    return `lock table ${this.qualified} in ${mode} mode`
  }
}

/** Stops all writes to these tables and all row locks in them; reads continue. */
export function lockingTables(...tables: readonly { readonly qualified: string }[]): string {
  return `lock table ${tables.map((table) => table.qualified).join(', ')} in exclusive mode`
}

function where<R>(match: Match<R> = {}): string {
  const all = conditions(match)
  return all.length === 0 ? '' : ` where ${all.join(' and ')}`
}

function conditions<R>(match: Match<R>, prefix = ''): string[] {
  if (typeof match === 'string') return [match]
  return Object.entries(match).map(([column, value]) => condition(prefix + column, value as Plain | typeof present))
}

function condition(column: string, value: Plain | typeof present): string {
  if (value === present) return `${column} is not null`
  return value === null ? `${column} is null` : `${column} = ${literal(value)}`
}

const partition = /^\{fp:\d+\}:/

function literal(value: Plain): string {
  if (typeof value !== 'string') return String(value)
  return `'${value.replace(partition, '').replaceAll("'", "''")}'`
}
