// The database, as the engine uses it. Two adapters return the same values for the same statements: `postgres.ts` over
// a pool of connections, `pglite.ts` over the database in the process.
import type { Columns, Params, RowOf, Statement, ValuesOf } from './statement.ts'

/** One statement with its values, for a pipeline. Build it with `call`. */
export interface Call<R extends Columns = Columns> {
  readonly statement: Statement<Params, R>
  readonly values: Readonly<Record<string, unknown>>
}

export type RowsOf<Calls extends readonly Call[]> = {
  readonly [I in keyof Calls]: Calls[I] extends Call<infer R> ? RowOf<R>[] : never
}

export function call<P extends Params, R extends Columns>(statement: Statement<P, R>, values: ValuesOf<P>): Call<R> {
  return { statement, values }
}

/** The methods of both the root handle and an open transaction. */
export interface Queries {
  query<P extends Params, R extends Columns>(statement: Statement<P, R>, values: ValuesOf<P>): Promise<RowOf<R>[]>
  /** A script of any number of statements, without parameters; for migrations and upkeep. */
  script(text: string): Promise<void>
}

export interface StatementOptions {
  /**
   * The limit of each statement, where the connection's own is too short; Infinity means no limit. The embedded
   * database has none.
   */
  readonly statementTimeoutMs?: number
}

export interface PipelineOptions extends StatementOptions {
  /** The longest that a statement waits for a lock; after that the transaction fails with 55P03. */
  readonly lockTimeoutMs?: number
}

export type ReservedSql = Pick<Sql, 'query' | 'pipeline'>

export interface Sql extends Queries {
  readonly kind: 'postgres' | 'embedded'
  readonly schema: string
  script(text: string, options?: StatementOptions): Promise<void>
  /** All calls in one transaction and one round trip. The first failure undoes them all and is thrown. */
  pipeline<const Calls extends readonly Call[]>(calls: Calls, options?: PipelineOptions): Promise<RowsOf<Calls>>
  /**
   * One transaction in two round trips, for decisions in this process. `reads` lock and read rows, in order. `decide`
   * returns the calls that write, and awaits nothing; they are sent together with the commit. It may be called twice,
   * so it must have no effects. If it throws, everything is undone.
   */
  decide<const Reads extends readonly Call[], const Writes extends readonly Call[]>(
    reads: Reads,
    decide: (rows: RowsOf<Reads>) => Writes,
    options?: PipelineOptions,
  ): Promise<RowsOf<Writes>>
  /**
   * The same database on a reserved connection, so that a lease renewal never queues behind other work. A statement on
   * it waits for no lock. It is the listening connection, while one exists.
   */
  readonly reserved: ReservedSql
  /**
   * A transaction whose next statement depends on the last result. Commits when `work` resolves, rolls back when it
   * throws. Inside `work` the root handle is refused: on the embedded database it would wait for itself.
   */
  transaction<T>(work: (tx: Queries) => Promise<T>, options?: StatementOptions): Promise<T>
  /**
   * Receives NOTIFY on a channel. It is a hint, never a guarantee: `onHint` is also called, with `null`, once after
   * each (re)connect, because notifications that were sent meanwhile are lost.
   */
  listen(channel: string, onHint: (payload: string | null) => void): Promise<() => Promise<void>>
  /** Waits for calls under way; those that take longer than `withinMs`, if set, are abandoned. */
  close(withinMs?: number): Promise<void>
}
