// Real Postgres, over a pool. A call owns its connection from the first message to the last reply, so calls spread over
// the pool and none waits behind the lock of another. Calls that belong together are written at once, and their replies
// arrive at once. They are one transaction without a begin and a commit, because one sync ends it. Only a transaction
// that continues after a reply needs them.
//
// A pooler that hands out server connections by the transaction does not keep the settings of a session, and mixes up
// prepared names unless it is a recent one. Behind a pooler, every statement is sent in a transaction that begins with
// the settings and the isolation level; and an open transaction, which could not be repeated, uses no names.
import { allowStatements, begin, commit, limitLockWaits, limitStatements, refuseRollback, timeoutOf } from './begin.ts'
import { encode, type EncodedValue } from './encode.ts'
import { Guard } from './guard.ts'
import { Listener } from './listen.ts'
import { silent, type Logger } from './logger.ts'
import { planLocally } from './plan-settings.ts'
import { queryText, queryPrepared, Connections, type PooledClient } from './postgres-pool.ts'
import { parsePostgresUrl, type PostgresUrl } from './postgres-url.ts'
import { Preparation, type Prepared } from './prepare.ts'
import { qualifier, qualifyText } from './qualify.ts'
import { answerWithin, defaultAnswerWithinMs, Silence } from './silence.ts'
import {
  call,
  type StatementOptions,
  type ReservedSql,
  type Call,
  type PipelineOptions,
  type Queries,
  type RowsOf,
  type Sql,
} from './sql.ts'
import { statement, type Columns, type Params, type RowOf, type Statement, type ValuesOf } from './statement.ts'
import type { TimelyClient } from './timely-client.ts'

export interface PostgresOptions {
  readonly url: string
  readonly schema: string
  /** For LISTEN, where `url` leads to a pooler. */
  readonly listenUrl?: string
  /** Prepare statements by name; true unless the URL has `prepare=false`. */
  readonly prepare?: boolean
  /** Connections besides the listening one; defaults to 4. */
  readonly poolSize?: number
  /** How long a connection with an unanswered statement may be silent before it is dropped; defaults to 8 s. */
  readonly answerWithinMs?: number
  readonly logger?: Logger
}

export async function openPostgres(options: PostgresOptions): Promise<Sql> {
  const logger = options.logger ?? silent
  const textOf = qualifier(options.schema)
  const url = parsePostgresUrl(options.url)
  const listenUrl = parsePostgresUrl(options.listenUrl ?? options.url)
  const preparation = new Preparation({ byName: options.prepare ?? url.prepare ?? true, textOf, logger })
  const silence = new Silence(options.answerWithinMs ?? defaultAnswerWithinMs, logger)
  const connections = await Connections.open({ url: options.url, size: options.poolSize ?? 4, silence, logger })
  return new Postgres(options.schema, connections, preparation, listenUrl, silence, logger)
}

const notifyStatement = statement({
  name: 'sql.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `select pg_notify($1, $2) is not null as sent`,
})

interface EncodedCall {
  readonly statement: Statement
  readonly values: readonly EncodedValue[]
}

/** Statements that are sent before and after the calls. */
interface Frame {
  readonly before?: readonly EncodedCall[]
  readonly after?: readonly EncodedCall[]
}

type Prepare = (statement: Statement) => Prepared

const begins = encodeAll([call(begin, {})])
const commits = encodeAll([call(commit, {})])

class Postgres implements Sql {
  readonly kind = 'postgres'
  readonly schema: string
  readonly #connections: Connections
  readonly #preparation: Preparation
  readonly #listener: Listener
  readonly #guard = new Guard()
  /** The statements that begin each transaction behind a pooler. */
  readonly #pooledSettings: readonly EncodedCall[]
  #closing: Promise<void> | undefined

  constructor(
    schema: string,
    connections: Connections,
    preparation: Preparation,
    listenUrl: PostgresUrl,
    silence: Silence,
    logger: Logger,
  ) {
    this.schema = schema
    this.#connections = connections
    this.#pooledSettings = encodeAll([call(planLocally, {}), call(limitStatements(silence.statementTimeoutMs), {})])
    this.#preparation = preparation
    this.#listener = new Listener({
      url: listenUrl,
      notify: async (channel, payload) => void (await this.query(notifyStatement, { channel, payload })),
      silence,
      logger,
    })
  }

  async query<P extends Params, R extends Columns>(
    statement: Statement<P, R>,
    values: ValuesOf<P>,
  ): Promise<RowOf<R>[]> {
    this.#guard.enter()
    const [rows] = await this.#perform(encodeAll([call(statement, values)]), {})
    return rows as RowOf<R>[]
  }

  async pipeline<const Calls extends readonly Call[]>(
    calls: Calls,
    options: PipelineOptions = {},
  ): Promise<RowsOf<Calls>> {
    this.#guard.enter()
    const rows = await this.#perform(encodeAll(calls), options)
    return rows as unknown as RowsOf<Calls>
  }

  async decide<const Reads extends readonly Call[], const Writes extends readonly Call[]>(
    reads: Reads,
    decide: (rows: RowsOf<Reads>) => Writes,
    options: PipelineOptions = {},
  ): Promise<RowsOf<Writes>> {
    this.#guard.enter()
    const encodedReads = encodeAll(reads)
    const before = [...begins, ...this.#settings(options)]
    const attempt = (client: PooledClient): Promise<unknown[][]> =>
      orRollBack(client, async () => {
        const looked = await this.#send(client, encodedReads, { before })
        const writes = encodeAll(decide(looked as unknown as RowsOf<Reads>))
        return this.#send(client, writes, { after: commits })
      })
    const rows = await this.#preparation.repeat(() =>
      this.#connections.use(attempt, answerWithin(options.statementTimeoutMs)),
    )
    return rows as unknown as RowsOf<Writes>
  }

  async script(text: string, { statementTimeoutMs }: StatementOptions = {}): Promise<void> {
    this.#guard.enter()
    // The script may begin a transaction of its own, and fail inside it.
    const run = (client: PooledClient): Promise<unknown> =>
      orRollBack(client, () => queryText(client, qualifyText(text, this.schema)))
    // Behind a pooler the session is not ours, and has none of our limits.
    const isLimited = statementTimeoutMs !== undefined && !this.#connections.isPooled
    const allowed = (client: PooledClient): Promise<unknown> =>
      isLimited ? withStatementTimeout(client, statementTimeoutMs, () => run(client)) : run(client)
    await this.#connections.use(allowed, answerWithin(statementTimeoutMs))
  }

  async transaction<T>(work: (tx: Queries) => Promise<T>, options: StatementOptions = {}): Promise<T> {
    this.#guard.enter()
    const opening = [...begins, ...this.#settings(options)]
    return this.#connections.use(
      (client) =>
        orRollBack(client, async () => {
          const open = new OpenTransaction(client, opening, this.#prepareInside)
          const result = await this.#guard.inside((use) => work(this.#inside(open, use)))
          refuseRollback(await open.commit())
          return result
        }),
      answerWithin(options.statementTimeoutMs),
    )
  }

  readonly #prepareInside: Prepare = (statement) =>
    this.#connections.isPooled ? this.#preparation.unnamed(statement) : this.#preparation.of(statement)

  #inside(open: OpenTransaction, use: () => void): Queries {
    return {
      query: async <P extends Params, R extends Columns>(statement: Statement<P, R>, values: ValuesOf<P>) => {
        use()
        const encoded = encodeAll([call(statement, values)])
        // Not repeated: the failure has already undone the earlier statements of the transaction.
        const [rows] = await this.#preparation.observe(() => open.query(encoded))
        return rows as RowOf<R>[]
      },
      script: async (text) => {
        use()
        await open.script(qualifyText(text, this.schema))
      },
    }
  }

  async listen(channel: string, onHint: (payload: string | null) => void): Promise<() => Promise<void>> {
    this.#guard.enter()
    return this.#listener.listen(channel, onHint)
  }

  async close(withinMs?: number): Promise<void> {
    if (this.#guard.close()) this.#closing = this.#end(withinMs)
    await this.#closing
  }

  async #end(withinMs: number | undefined): Promise<void> {
    const begunAt = performance.now()
    await this.#listener.close(withinMs)
    const left = withinMs === undefined ? undefined : Math.max(0, withinMs - (performance.now() - begunAt))
    await this.#connections.close(left)
  }

  readonly reserved: ReservedSql = {
    query: async (statement, values) => {
      this.#guard.enter()
      const [rows] = await this.#performReserved(encodeAll([call(statement, values)]), {})
      return rows as never
    },
    pipeline: async (calls, options = {}) => {
      this.#guard.enter()
      return (await this.#performReserved(encodeAll(calls), options)) as never
    },
  }

  // While no connection is listening, or only through a pooler, the call uses the pool.
  async #performReserved(calls: readonly EncodedCall[], options: PipelineOptions): Promise<unknown[][]> {
    return this.#preparation.repeat(() => {
      const answer = this.#listener.use((client) => this.#send(client, calls, { before: lockWaits(options) }))
      return answer ?? this.#perform(calls, options)
    })
  }

  async #perform(calls: readonly EncodedCall[], options: PipelineOptions): Promise<unknown[][]> {
    const settings = this.#settings(options)
    const before = [...begins, ...settings]
    const attempt = (client: PooledClient): Promise<unknown[][]> =>
      this.#connections.isPooled
        ? orRollBack(client, () => this.#send(client, calls, { before, after: commits }))
        : this.#send(client, calls, { before: settings })
    return this.#preparation.repeat(() => this.#connections.use(attempt, answerWithin(options.statementTimeoutMs)))
  }

  #send(client: TimelyClient, calls: readonly EncodedCall[], frame: Frame): Promise<unknown[][]> {
    return send(client, calls, frame, (statement) => this.#preparation.of(statement))
  }

  #settings(options: PipelineOptions): EncodedCall[] {
    const { statementTimeoutMs } = options
    const pooled = this.#connections.isPooled ? this.#pooledSettings : []
    const allowed = statementTimeoutMs === undefined ? [] : [call(allowStatements(statementTimeoutMs), {})]
    return [...pooled, ...encodeAll(allowed), ...lockWaits(options)]
  }
}

/**
 * A transaction that continues after a reply. Everything that is sent before the first reply begins with BEGIN, so no
 * statement runs outside of the transaction; a second BEGIN only causes a warning.
 */
class OpenTransaction {
  readonly #client: PooledClient
  readonly #opening: readonly EncodedCall[]
  readonly #prepare: Prepare
  #first: Promise<unknown> | null = null
  #isBegun = false

  constructor(client: PooledClient, opening: readonly EncodedCall[], prepare: Prepare) {
    this.#client = client
    this.#opening = opening
    this.#prepare = prepare
  }

  query(calls: readonly EncodedCall[]): Promise<unknown[][]> {
    const before = this.#isBegun ? [] : this.#opening
    return this.#answered(send(this.#client, calls, { before }, this.#prepare))
  }

  async script(text: string): Promise<void> {
    const before = this.#isBegun ? [] : this.#opening.map(({ statement }) => `${statement.text};`)
    await this.#answered(queryText(this.#client, [...before, text].join(' ')))
  }

  async #answered<T>(answer: Promise<T>): Promise<T> {
    this.#first ??= answer
    const result = await answer
    this.#isBegun = true
    return result
  }

  /** Returns the command tag of the server: COMMIT or ROLLBACK. */
  async commit(): Promise<string> {
    if (this.#first === null) return 'COMMIT'
    const isBegun = await this.#first.then(
      () => true,
      () => false,
    )
    return isBegun ? (await queryText(this.#client, 'commit')).command : 'ROLLBACK'
  }
}

async function orRollBack<T>(client: PooledClient, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await queryText(client, 'rollback').catch(() => {}) // then the connection is not idle, and is dropped
    throw error
  }
}

/** For statements that cannot run inside a transaction. */
async function withStatementTimeout<T>(client: PooledClient, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const { rows } = await queryText(client, 'show statement_timeout')
  const [before] = rows as { statement_timeout: string }[]
  await queryText(client, `set statement_timeout = ${timeoutOf(timeoutMs)}`)
  try {
    return await work()
  } finally {
    // If this fails, the connection is lost, and its next use notices that.
    await queryText(client, `set statement_timeout = '${before!.statement_timeout}'`).catch(() => {})
  }
}

/** Sends everything before it awaits anything: one round trip. Returns the rows of the calls. */
async function send(
  client: TimelyClient,
  calls: readonly EncodedCall[],
  { before = [], after = [] }: Frame,
  prepare: Prepare,
): Promise<unknown[][]> {
  const sent = [...before, ...calls, ...after]
  const rows = await queryPrepared(
    client,
    sent.map(({ statement, values }) => ({ prepared: prepare(statement), values })),
  )
  return rows.slice(before.length, before.length + calls.length)
}

function lockWaits({ lockTimeoutMs }: PipelineOptions): EncodedCall[] {
  if (lockTimeoutMs === undefined) return []
  return encodeAll([call(limitLockWaits, { lock_timeout_ms: timeoutOf(lockTimeoutMs) })])
}

function encodeAll(calls: readonly Call[]): EncodedCall[] {
  return calls.map(({ statement, values }) => ({ statement, values: encode(statement, values) }))
}
