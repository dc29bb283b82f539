// The embedded database: Postgres in this process, with one connection that everything waits for in turn.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { PGlite, PGliteOptions } from '@electric-sql/pglite'
import { beginReadCommitted, beginText, refuseRollback } from './begin.ts'
import { encode } from './encode.ts'
import { Guard } from './guard.ts'
import { lockDirectory, type DirectoryLock } from './lock.ts'
import { silent, type Logger } from './logger.ts'
import { Mutex } from './mutex.ts'
import { Wire, type Answer, type Part } from './pglite-wire.ts'
import { planSession } from './plan-settings.ts'
import { Preparation, Refused } from './prepare.ts'
import { qualifier, qualifyText, quoteIdentifier } from './qualify.ts'
import { call, type Call, type PipelineOptions, type Queries, type RowsOf, type Sql } from './sql.ts'
import type { Columns, Params, RowOf, Statement, ValuesOf } from './statement.ts'

export interface EmbeddedOptions {
  /** Null: in memory. */
  readonly directory: string | null
  readonly schema: string
  readonly logger?: Logger
  /** More options of PGlite's own, such as `loadDataDir`. */
  readonly extra?: PGliteOptions
}

export interface EmbeddedSql extends Sql {
  readonly kind: 'embedded'
  /** The database itself, for what only it can do, such as copying its files. */
  readonly pglite: PGlite
  /** Written into the directory's lock, so that a second process learns where to connect instead. */
  setUrl(url: string | null): Promise<void>
}

export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedSql> {
  const textOf = qualifier(options.schema)
  const lock = options.directory === null ? null : await lockDirectory(options.directory)
  try {
    // Loaded only here: 26 MB that nobody on Postgres needs.
    const { PGlite: Database, protocol } = await import('@electric-sql/pglite')
    const pglite = await Database.create({ ...options.extra, ...(await locationOf(options.directory)) })
    await pglite.exec(planSession)
    const preparation = new Preparation({ byName: true, textOf, logger: options.logger ?? silent })
    return new Embedded(pglite, new Wire(pglite, protocol.serialize), preparation, options.schema, lock)
  } catch (error) {
    await lock?.release()
    throw error
  }
}

// Beside the lock, not around it: Postgres wants its directory for itself.
async function locationOf(directory: string | null): Promise<{ dataDir?: string }> {
  if (directory === null) return {}
  const dataDir = join(directory, 'pgdata')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  return { dataDir }
}

// Answers arrive without a turn of the event loop, so a busy caller would keep timers and sockets waiting for ever.
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
  readonly #listeners = new Map<string, Set<(payload: string) => void>>()
  #turnedAt = performance.now()

  constructor(pglite: PGlite, wire: Wire, preparation: Preparation, schema: string, lock: DirectoryLock | null) {
    this.pglite = pglite
    this.#wire = wire
    this.#preparation = preparation
    this.schema = schema
    this.#lock = lock
    pglite.onNotification((channel, payload) => {
      for (const hear of this.#listeners.get(channel) ?? []) hear(payload)
    })
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
    const begin: Part = { kind: 'text', text: beginText(options) }
    const commit: Part = { kind: 'text', text: 'commit' }
    const answers = await this.#exclusive(() => this.#preparation.repeat(() => this.#send([begin, ...parts(), commit])))
    return answers.slice(1, -1).map((answer) => answer.rows) as unknown as RowsOf<Calls>
  }

  async transaction<T>(work: (tx: Queries) => Promise<T>): Promise<T> {
    this.#guard.enter()
    return this.#exclusive(async () => {
      await this.#run(beginReadCommitted)
      let result: T
      try {
        result = await this.#guard.inside((use) => work(this.#inside(use)))
      } catch (error) {
        await this.#run('rollback')
        throw error
      }
      const commit = await this.#run('commit')
      refuseRollback(commit.command)
      return result
    })
  }

  #inside(use: () => void): Queries {
    const turns = new Mutex()
    return {
      query: async <P extends Params, R extends Columns>(statement: Statement<P, R>, values: ValuesOf<P>) => {
        use()
        const parts = this.#partsOf([call(statement, values)])
        // Not repeated: the failure has already undone what the transaction did before.
        const [answer] = await turns.run(() => this.#preparation.observe(() => this.#send(parts())))
        return answer?.rows as RowOf<R>[]
      },
      script: async (text) => {
        use()
        await turns.run(() => this.#run(qualifyText(text, this.schema)))
      },
    }
  }

  async listen(channel: string, onHint: (payload: string | null) => void): Promise<() => Promise<void>> {
    this.#guard.enter()
    const hear = (payload: string): void => onHint(payload)
    const listeners = this.#listeners.get(channel) ?? new Set()
    this.#listeners.set(channel, listeners.add(hear))
    await this.#exclusive(() => this.#run(`listen ${quoteIdentifier(channel)}`))
    onHint(null)
    return async () => {
      listeners.delete(hear)
    }
  }

  async setUrl(url: string | null): Promise<void> {
    await this.#lock?.setUrl(url)
  }

  async close(): Promise<void> {
    if (!this.#guard.close()) return
    await this.#mutex.run(() => this.pglite.close())
    await this.#lock?.release()
  }

  /** Encoded once; named anew for each attempt. */
  #partsOf(calls: readonly Call[]): () => Part[] {
    const encoded = calls.map(({ statement, values }) => ({ statement, values: encode(statement, values) }))
    return () =>
      encoded.map(({ statement, values }) => ({
        kind: 'statement',
        prepared: this.#preparation.of(statement),
        values,
      }))
  }

  async #send(parts: readonly Part[]): Promise<Answer[]> {
    const answers = await this.#wire.send(parts)
    const failed = answers.findIndex((answer) => answer.error !== undefined)
    if (failed === -1) return answers
    const part = parts[failed]
    throw new Refused(answers[failed]?.error, part?.kind === 'statement' ? part.prepared : undefined)
  }

  async #run(text: string): Promise<Answer> {
    const [answer] = await this.#wire.send([{ kind: 'text', text }])
    if (answer === undefined) throw new Error('the embedded database did not answer')
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
