// Real Postgres, over a pool. A call owns its connection from the first message to the last answer, so calls spread over
// the pool and none waits behind another's lock; what belongs together (begin, statements, commit) is written at once and
// answered at once.
//
// A pooler that hands out server connections by the transaction does not keep what is set at the start, and mixes up
// prepared names unless it is a recent one. Behind one, every statement travels in a transaction that begins with the
// setting; and an open transaction, which could not be repeated, uses no names.
import { beginReadCommitted, beginText, refuseRollback } from './begin.ts'
import { encode, type Encoded } from './encode.ts'
import { Guard } from './guard.ts'
import { Listener } from './listen.ts'
import { silent, type Logger } from './logger.ts'
import { planLocally } from './plan-settings.ts'
import { ask, askPrepared, Connections, inOneWrite, type AnyClient, type Client } from './postgres-pool.ts'
import { parsePostgresUrl, type PostgresUrl } from './postgres-url.ts'
import { Preparation, Refused, type Prepared } from './prepare.ts'
import { qualifier, qualifyText } from './qualify.ts'
import { call, type Aside, type Call, type PipelineOptions, type Queries, type RowsOf, type Sql } from './sql.ts'
import { statement, type Columns, type Params, type RowOf, type Statement, type ValuesOf } from './statement.ts'

export interface PostgresOptions {
  readonly url: string
  readonly schema: string
  /** For LISTEN, where `url` leads to a pooler. */
  readonly listenUrl?: string
  /** Prepare statements by name; so it is unless the URL says `prepare=false`. */
  readonly prepare?: boolean
  /** Besides the one that listens; defaults to 4. */
  readonly poolSize?: number
  readonly logger?: Logger
}

export async function openPostgres(options: PostgresOptions): Promise<Sql> {
  const logger = options.logger ?? silent
  const textOf = qualifier(options.schema)
  const url = parsePostgresUrl(options.url)
  const listenUrl = parsePostgresUrl(options.listenUrl ?? options.url)
  const preparation = new Preparation({ byName: options.prepare ?? url.prepare ?? true, textOf, logger })
  const connections = await Connections.open({ url: options.url, size: options.poolSize ?? 4, logger })
  return new Postgres(options.schema, connections, preparation, listenUrl, logger)
}

const notifyStatement = statement({
  name: 'sql.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `select pg_notify($1, $2) is not null as sent`,
})

interface EncodedCall {
  readonly statement: Statement
  readonly values: readonly Encoded[]
}

interface PreparedCall {
  readonly prepared: Prepared
  readonly values: readonly Encoded[]
}

class Postgres implements Sql {
  readonly kind = 'postgres'
  readonly schema: string
  readonly #connections: Connections
  readonly #preparation: Preparation
  readonly #listener: Listener
  readonly #guard = new Guard()
  #closing: Promise<void> | undefined

  constructor(
    schema: string,
    connections: Connections,
    preparation: Preparation,
    listenUrl: PostgresUrl,
    logger: Logger,
  ) {
    this.schema = schema
    this.#connections = connections
    this.#preparation = preparation
    this.#listener = new Listener({
      url: listenUrl,
      notify: async (channel, payload) => void (await this.query(notifyStatement, { channel, payload })),
      logger,
    })
  }

  async query<P extends Params, R extends Columns>(
    statement: Statement<P, R>,
    values: ValuesOf<P>,
  ): Promise<RowOf<R>[]> {
    this.#guard.enter()
    const [rows] = await this.#perform(encodeAll([call(statement, values)]), beginReadCommitted)
    return rows as RowOf<R>[]
  }

  async pipeline<const Calls extends readonly Call[]>(
    calls: Calls,
    options: PipelineOptions = {},
  ): Promise<RowsOf<Calls>> {
    this.#guard.enter()
    const rows = await this.#perform(encodeAll(calls), beginText(options))
    return rows as unknown as RowsOf<Calls>
  }

  async decide<const Reads extends readonly Call[], const Writes extends readonly Call[]>(
    reads: Reads,
    decide: (rows: RowsOf<Reads>) => Writes,
    options: PipelineOptions = {},
  ): Promise<RowsOf<Writes>> {
    this.#guard.enter()
    const encodedReads = encodeAll(reads)
    const opening = this.#opening(beginText(options))
    const attempt = async (client: Client): Promise<unknown[][]> => {
      let isOpen = true
      try {
        const looked = await exchange(client, this.#prepare(encodedReads), { before: opening })
        const writes = encodeAll(decide(looked as unknown as RowsOf<Reads>))
        isOpen = false
        return await exchange(client, this.#prepare(writes), { after: 'commit' })
      } catch (error) {
        if (isOpen) await ask(client, 'rollback').catch(() => {}) // then the connection is not idle, and is dropped
        throw error
      }
    }
    const rows = await this.#preparation.repeat(() => this.#connections.use(attempt))
    return rows as unknown as RowsOf<Writes>
  }

  async script(text: string): Promise<void> {
    this.#guard.enter()
    await this.#connections.use(async (client) => {
      try {
        await ask(client, qualifyText(text, this.schema))
      } catch (error) {
        // It may have begun a transaction of its own.
        await ask(client, 'rollback').catch(() => {})
        throw error
      }
    })
  }

  async transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    this.#guard.enter()
    return this.#connections.use(async (client) => {
      // Not awaited here: it travels with the first statement.
      const begun = ask(client, this.#opening(beginReadCommitted))
      begun.catch(() => {})
      let result: T
      try {
        result = await this.#guard.inside((use) => work(this.#inside(client, use)))
        await begun
      } catch (error) {
        await ask(client, 'rollback').catch(() => {}) // then the connection is not idle, and is dropped
        throw error
      }
      const commit = await ask(client, 'commit')
      refuseRollback(commit.command)
      return result
    })
  }

  #inside(client: Client, use: () => void): Queries {
    const { isPooled } = this.#connections
    return {
      query: async <P extends Params, R extends Columns>(statement: Statement<P, R>, values: ValuesOf<P>) => {
        use()
        const encoded = encode(statement, values)
        // Not repeated: the failure has already undone what the transaction did before.
        const [rows] = await this.#preparation.observe(() => {
          const prepared = isPooled ? this.#preparation.unnamed(statement) : this.#preparation.of(statement)
          return exchange(client, [{ prepared, values: encoded }])
        })
        return rows as RowOf<R>[]
      },
      script: async (text) => {
        use()
        await ask(client, qualifyText(text, this.schema))
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

  readonly aside: Aside = {
    query: async (statement, values) => {
      this.#guard.enter()
      const [rows] = await this.#performAside(encodeAll([call(statement, values)]), beginReadCommitted)
      return rows as never
    },
    pipeline: async (calls, options = {}) => {
      this.#guard.enter()
      return (await this.#performAside(encodeAll(calls), beginText(options))) as never
    },
  }

  // While nothing listens, or only through a pooler, it goes the way of all others.
  async #performAside(calls: readonly EncodedCall[], begin: string): Promise<unknown[][]> {
    const around = calls.length === 1 && begin === beginReadCommitted ? {} : { before: begin, after: 'commit' }
    return this.#preparation.repeat(() => {
      const answer = this.#listener.use((client) => exchange(client, this.#prepare(calls), around))
      return answer ?? this.#perform(calls, begin)
    })
  }

  async #perform(calls: readonly EncodedCall[], begin: string): Promise<unknown[][]> {
    // A statement by itself is a transaction already.
    const needsNone = calls.length === 1 && begin === beginReadCommitted && !this.#connections.isPooled
    const around = needsNone ? {} : { before: this.#opening(begin), after: 'commit' }
    return this.#preparation.repeat(() => {
      const prepared = this.#prepare(calls)
      return this.#connections.use((client) => exchange(client, prepared, around))
    })
  }

  #prepare(calls: readonly EncodedCall[]): PreparedCall[] {
    return calls.map(({ statement, values }) => ({ prepared: this.#preparation.of(statement), values }))
  }

  #opening(begin: string): string {
    return this.#connections.isPooled ? `${begin}; ${planLocally}` : begin
  }
}

/** What is sent around the calls: the begin, the commit, or both. */
interface Around {
  readonly before?: string
  readonly after?: string
}

/** Everything is sent before anything is awaited: one round trip. */
async function exchange(
  client: AnyClient,
  calls: readonly PreparedCall[],
  { before, after }: Around = {},
): Promise<unknown[][]> {
  const { begun, sent, committed } = inOneWrite(client, () => ({
    begun: before === undefined ? [] : [ask(client, before)],
    sent: calls.map(({ prepared, values }) => askPrepared(client, prepared, values)),
    committed: after === undefined ? [] : [ask(client, after)],
  }))
  const outcomes = await Promise.allSettled([...begun, ...sent, ...committed])
  const failed = outcomes.findIndex((outcome) => outcome.status === 'rejected')
  const failure = outcomes[failed]
  if (failure?.status === 'rejected') throw new Refused(failure.reason, calls[failed - begun.length]?.prepared)
  return Promise.all(sent)
}

function encodeAll(calls: readonly Call[]): EncodedCall[] {
  return calls.map(({ statement, values }) => ({ statement, values: encode(statement, values) }))
}
