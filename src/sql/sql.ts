// The database, as the engine sees it. Two adapters give the same values for the same statements: `postgres.ts` over a
// pool of connections, `pglite.ts` over the database in the process.
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

/** What both the root handle and an open transaction can do. */
export interface Queries {
  query<P extends Params, R extends Columns>(statement: Statement<P, R>, values: ValuesOf<P>): Promise<RowOf<R>[]>
  /** A script of any number of statements, without parameters; for migrations and upkeep. */
  script(text: string): Promise<void>
}

export interface StatementOptions {
  /** How long each statement may take, where the connection's limit is too short; Infinity is no limit. Embedded has none. */
  readonly statementTimeoutMs?: number
}

export interface PipelineOptions extends StatementOptions {
  /** No statement waits longer than this for a lock; then the transaction fails with 55P03. */
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
   * One transaction in two round trips, for what is decided in this process: `reads` lock and look, in order; `decide` gives
   * the calls that write, and awaits nothing; they travel with the commit. It may be asked twice, so it only decides. What it
   * throws undoes everything.
   */
  decide<const Reads extends readonly Call[], const Writes extends readonly Call[]>(
    reads: Reads,
    decide: (rows: RowsOf<Reads>) => Writes,
    options?: PipelineOptions,
  ): Promise<RowsOf<Writes>>
  /**
   * The same database on a reserved connection, so that a lease renewal never queues behind other work. What runs here waits for
   * no lock. It is the listening connection, while there is one.
   */
  readonly reserved: ReservedSql
  /**
   * A transaction whose next statement depends on the last one's answer. Commits when `work` resolves, rolls back when it
   * throws. Inside `work` the root handle is refused: on the embedded database it would wait for itself.
   */
  transaction<T>(work: (tx: Queries) => Promise<T>, options?: StatementOptions): Promise<T>
  /**
   * Hears NOTIFY on a channel. A hint, never the guarantee: `onHint` is also called, with `null`, once after each
   * (re)connect, because what was sent meanwhile is lost.
   */
  listen(channel: string, onHint: (payload: string | null) => void): Promise<() => Promise<void>>
  /** After what is under way; of that, a server is left alone with what is not done within the time, if one is given. */
  close(withinMs?: number): Promise<void>
}
