// The embedded database: Postgres in this process, with one connection that all calls share in turn.
import { setImmediate } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import { beginReadCommitted, beginText, refuseRollback } from './begin.ts'
import { encode } from './encode.ts'
import { Guard } from './guard.ts'
import { Handlers } from './handlers.ts'
import { lockDirectory, type DirectoryLock } from './lock.ts'
import { silent, type Logger } from './logger.ts'
import { Mutex } from './mutex.ts'
import { DatabaseError } from './errors.ts'
import { openDirectory, type ReadImage } from './pglite-directory.ts'
import { Wire, type PartAnswer, type WirePart } from './pglite-wire.ts'
import { planSession } from './plan-settings.ts'
import { Preparation, PreparationRefused } from './prepare.ts'
import { qualifier, qualifyText, quoteIdentifier } from './qualify.ts'
import { call, type ReservedSql, type Call, type PipelineOptions, type Queries, type RowsOf, type Sql } from './sql.ts'
import type { Columns, Params, RowOf, Statement, ValuesOf } from './statement.ts'

export interface EmbeddedOptions {
  /** Null: in memory. */
  readonly directory: string | null
  readonly schema: string
  readonly logger?: Logger
  /** The files of a new database, with the schema in them. Without it PGlite creates an empty database. */
  readonly image?: ReadImage
}

export interface EmbeddedSql extends Sql {
  readonly kind: 'embedded'
  /** The database itself, for operations that only it has, such as copying its files. */
  readonly pglite: PGlite
  /** Written into the directory's lock, so that a second process finds the URL to connect to. */
  setUrl(url: string | null): Promise<void>
}

// Postgres touches all of its buffers at the start (measured: with 128 MB, PGlite's default, a process has 290 MB and opens in 0.45 s;
// with 32 MB 175 MB and 0.3 s).
const settings = ['-c', 'shared_buffers=32MB']

const noImage: ReadImage = async () => null

// Loaded here only: 26 MB that a process on Postgres or HTTP does not need, and that its install may leave out.
async function load() {
  try {
    return await import('@electric-sql/pglite')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    const sentence = 'the embedded database needs @electric-sql/pglite, which is not installed'
    throw new DatabaseError('not_installed', sentence, 'npm install @electric-sql/pglite, or use postgres://', error)
  }
}

export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedSql> {
  const { directory, schema, logger = silent, image = noImage } = options
  const textOf = qualifier(schema)
  const lock = directory === null ? null : await lockDirectory(directory)
  try {
    const { PGlite: Database, protocol } = await load()
    const startParams = [...Database.defaultStartParams, ...settings]
    const openAt = (dataDir: string): Promise<PGlite> => Database.create({ dataDir, startParams })
    const openInMemory = async (): Promise<PGlite> => {
      const tar = await image()
      return Database.create(
        tar === null ? { startParams } : { startParams, loadDataDir: new Blob([new Uint8Array(tar)]) },
      )
    }
    const pglite = await (directory === null ? openInMemory() : openDirectory(directory, openAt, image))
    await pglite.exec(planSession)
    const preparation = new Preparation({ byName: true, textOf, logger })
    return new Embedded({ pglite, wire: new Wire(pglite, protocol.serialize), preparation, schema, lock, logger })
  } catch (error) {
    await lock?.release()
    throw error
  }
}

interface Opened {
  readonly pglite: PGlite
  readonly wire: Wire
  readonly preparation: Preparation
  readonly schema: string
  readonly lock: DirectoryLock | null
  readonly logger: Logger
}

// Replies arrive without a turn of the event loop, so a busy caller would block timers and sockets for ever.
const longestHoldMs = 10

class Embedded implements EmbeddedSql {
  readonly kind = 'embedded'
  readonly schema: string
  readonly pglite: PGlite
  readonly #wire: Wire
  readonly #preparation: Preparation
  readonly #lock: DirectoryLock | null
  readonly #guard = new Guard()
  readonly #mutex = new Mutex()
  readonly #handlers: Handlers
  readonly reserved: ReservedSql = this
  #turnedAt = performance.now()
  #closing: Promise<void> | undefined

  constructor({ pglite, wire, preparation, schema, lock, logger }: Opened) {
    this.pglite = pglite
    this.#wire = wire
    this.#preparation = preparation
    this.schema = schema
    this.#lock = lock
    this.#handlers = new Handlers(logger)
    pglite.onNotification((channel, payload) => this.#handlers.notifyChannel(channel, payload))
  }

  async query<P extends Params, R extends Columns>(
    statement: Statement<P, R>,
    values: ValuesOf<P>,
  ): Promise<RowOf<R>[]> {
    this.#guard.enter()
    const parts = this.#partsOf([call(statement, values)])
    const [answer] = await this.#exclusive(() => this.#preparation.repeat(() => this.#send(parts())))
    return answer?.rows as RowOf<R>[]
  }

  async script(text: string): Promise<void> {
    this.#guard.enter()
    await this.#exclusive(() => this.#run(qualifyText(text, this.schema)))
  }

  async pipeline<const Calls extends readonly Call[]>(
    calls: Calls,
    options: PipelineOptions = {},
  ): Promise<RowsOf<Calls>> {
    this.#guard.enter()
    const parts = this.#partsOf(calls)
    const begin: WirePart = { kind: 'text', text: beginText(options) }
    const commit: WirePart = { kind: 'text', text: 'commit' }
    const answers = await this.#exclusive(() => this.#preparation.repeat(() => this.#send([begin, ...parts(), commit])))
    return answers.slice(1, -1).map((answer) => answer.rows) as unknown as RowsOf<Calls>
  }

  async decide<const Reads extends readonly Call[], const Writes extends readonly Call[]>(
    reads: Reads,
    decide: (rows: RowsOf<Reads>) => Writes,
    options: PipelineOptions = {},
  ): Promise<RowsOf<Writes>> {
    this.#guard.enter()
    const parts = this.#partsOf(reads)
    const begin: WirePart = { kind: 'text', text: beginText(options) }
    const commit: WirePart = { kind: 'text', text: 'commit' }
    const attempt = async (): Promise<PartAnswer[]> => {
      try {
        const looked = await this.#send([begin, ...parts()])
        const writes = decide(looked.slice(1).map((answer) => answer.rows) as unknown as RowsOf<Reads>)
        return await this.#send([...this.#partsOf(writes)(), commit])
      } catch (error) {
        if (this.#wire.isInTransaction) await this.#run('rollback')
        throw error
      }
    }
    const answers = await this.#exclusive(() => this.#preparation.repeat(attempt))
    return answers.slice(0, -1).map((answer) => answer.rows) as unknown as RowsOf<Writes>
  }

  async transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    this.#guard.enter()
    return this.#exclusive(async () => {
      const turns = new Mutex()
      await this.#run(beginReadCommitted)
      let result: T
      try {
        result = await this.#guard.inside((use) => work(this.#inside(turns, use)))
      } catch (error) {
        await turns.run(() => this.#run('rollback'))
        throw error
      }
      const commit = await turns.run(() => this.#run('commit'))
      refuseRollback(commit.command)
      return result
    })
  }

  // Whether the transaction is still open is checked when the turn comes: of queries that were sent together, one may
  // have failed and ended it, and statements after the rollback would be committed.
  #inside(turns: Mutex, use: () => void): Queries {
    const inTurn = <T>(work: () => Promise<T>): Promise<T> =>
      turns.run(async () => {
        use()
        return work()
      })
    return {
      query: async <P extends Params, R extends Columns>(statement: Statement<P, R>, values: ValuesOf<P>) => {
        const parts = this.#partsOf([call(statement, values)])
        // Not repeated: the failure has already undone the earlier statements of the transaction.
        const [answer] = await inTurn(() => this.#preparation.observe(() => this.#send(parts())))
        return answer?.rows as RowOf<R>[]
      },
      script: async (text) => {
        await inTurn(() => this.#run(qualifyText(text, this.schema)))
      },
    }
  }

  async listen(channel: string, onHint: (payload: string | null) => void): Promise<() => Promise<void>> {
    this.#guard.enter()
    const handler = this.#handlers.add(channel, onHint)
    try {
      await this.#exclusive(() => this.#run(`listen ${quoteIdentifier(channel)}`))
    } catch (error) {
      this.#handlers.remove(channel, handler)
      throw error
    }
    this.#handlers.notify(handler, null)
    return async () => {
      if (this.#handlers.remove(channel, handler)) this.#unlisten(channel)
    }
  }

  // Not awaited: no handler is left, and inside a transaction it would wait for itself.
  #unlisten(channel: string): void {
    this.#exclusive(() => this.#run(`unlisten ${quoteIdentifier(channel)}`)).catch(() => {})
  }

  async setUrl(url: string | null): Promise<void> {
    await this.#lock?.setUrl(url)
  }

  async close(): Promise<void> {
    if (this.#guard.close()) this.#closing = this.#end()
    await this.#closing
  }

  async #end(): Promise<void> {
    await this.#mutex.run(() => this.pglite.close())
    await this.#lock?.release()
  }

  /** EncodedValue once; named anew for each attempt. */
  #partsOf(calls: readonly Call[]): () => WirePart[] {
    const encoded = calls.map(({ statement, values }) => ({ statement, values: encode(statement, values) }))
    return () =>
      encoded.map(({ statement, values }) => ({
        kind: 'statement',
        prepared: this.#preparation.of(statement),
        values,
      }))
  }

  async #send(parts: readonly WirePart[]): Promise<PartAnswer[]> {
    const answers = await this.#wire.send(parts)
    const failed = answers.findIndex((answer) => answer.error !== undefined)
    if (failed === -1) return answers
    const part = parts[failed]
    throw new PreparationRefused(answers[failed]?.error, part?.kind === 'statement' ? part.prepared : undefined)
  }

  async #run(text: string): Promise<PartAnswer> {
    const [answer] = await this.#wire.send([{ kind: 'text', text }])
    if (answer === undefined) throw new Error('the embedded database did not respond')
    if (answer.error !== undefined) throw answer.error
    return answer
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    return this.#mutex.run(async () => {
      if (performance.now() - this.#turnedAt > longestHoldMs) {
        await setImmediate()
        this.#turnedAt = performance.now()
      }
      try {
        return await work()
      } finally {
        // A script may have begun a transaction and failed inside it; the next caller has the same connection.
        if (this.#wire.isInTransaction) await this.#wire.send([{ kind: 'text', text: 'rollback' }])
      }
    })
  }
}
