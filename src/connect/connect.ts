// What a user holds. Picks the database by the URL, brings its schema up to date and gives the engine on it.
import type { Engine } from '../engine/contract.ts'
import { longestCloseMs, within } from '../engine/closing.ts'
import { openEngine, type OpenEngine } from '../engine/engine.ts'
import { superviseOptionNames, type SuperviseOptions, type Supervisor } from '../engine/reconcilers/supervisor.ts'
import { EngineError } from '../model/errors.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import type { Logger } from '../sql/logger.ts'
import { migrate, type MigrateOptions } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations/all.ts'
import type { Sql } from '../sql/sql.ts'
import { checkLogger, checkOptions } from './check-options.ts'
import { asConnectError } from './connect-error.ts'
import { checkSigning, type SigningOptions } from './signing-options.ts'
import { parseUrl, type Target } from './url.ts'
import { codeVersion } from './version.ts'

export interface ConnectOptions {
  /**
   * What to do about the schema: bring it up to date (`true`, the default), refuse to start when it is not (`'check'`),
   * or not look at it (`false`).
   */
  readonly migrate?: MigrateOptions['mode']
  /** The schema that holds the tables; defaults to `flowfabric`. */
  readonly schema?: string
  /** A direct connection for LISTEN, where `url` leads to a pooler such as PgBouncer. */
  readonly listenUrl?: string
  /** Prepare statements by name; defaults to true, and `?prepare=false` in the URL says the same. */
  readonly prepare?: boolean
  /** Connections to Postgres; defaults to 4. */
  readonly poolSize?: number
  /** Four methods; `console`, pino and winston have them. Silent when left out. */
  readonly logger?: Logger
  /** How waitpoint tokens are signed. Left out: by a key that the first start makes. */
  readonly signing?: SigningOptions
}

export interface FlowFabric extends AsyncDisposable {
  readonly engine: Engine
  /**
   * Runs what time breaks without anybody's call: promotes what is due, gives back what a crashed worker held, fires
   * deadlines, forgets what is too old. One process of a fleet does each duty at a time, so every process may run it.
   * Stopped by `close`, or before.
   */
  supervise(options?: SuperviseOptions): Supervisor
  /** Lets what was accepted before finish, for at most ten seconds, then cuts it off; refuses what comes after. */
  close(): Promise<void>
}

/**
 * Opens FlowFabric on a database.
 *
 * @example
 * const ff = await connect('file:./.flowfabric')
 * const { executionId } = await ff.engine.executions.create({ kind: 'send-email' })
 * await ff.close()
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<FlowFabric> {
  refuseUnknownFields('connect', options, optionNames)
  const target = parseUrl(url)
  checkOptions(options, target)
  const signing = options.signing === undefined ? {} : { signing: checkSigning(options.signing) }
  try {
    const sql = await open(target, options)
    try {
      await migrate(sql, migrations, { mode: options.migrate ?? true, codeVersion, ...withLogger(options) })
      const opened = openEngine(sql, signing)
      // A wrong secret is told now, not to whoever suspends first.
      if (options.signing !== undefined) await opened.readySigningKeys()
      return hold(sql, opened, options)
    } catch (error) {
      await sql.close()
      throw error
    }
  } catch (error) {
    throw asConnectError(error)
  }
}

async function open(target: Target, options: ConnectOptions): Promise<Sql> {
  const { schema = 'flowfabric', migrate: _migrate, signing: _signing, ...rest } = options
  if (target.kind === 'postgres') {
    const { openPostgres } = await import('../sql/postgres.ts')
    return openPostgres({ ...rest, url: target.url, schema })
  }
  const { openEmbedded } = await import('../sql/pglite.ts')
  const { directory } = target
  if (directory !== null) warnOfPowerCuts()
  return openEmbedded({ directory, schema, ...withLogger(options) })
}

function withLogger({ logger }: ConnectOptions): { logger?: Logger } {
  return logger === undefined ? {} : { logger }
}

function hold(sql: Sql, opened: OpenEngine, connected: ConnectOptions): FlowFabric {
  const running = new Set<Supervisor>()
  let closing: Promise<void> | undefined
  const end = async (): Promise<void> => {
    const until = performance.now() + longestCloseMs
    const stopped = Promise.all([...running].map((each) => each.stop()))
    await Promise.all([within(longestCloseMs, stopped), opened.close(longestCloseMs)])
    await sql.close(Math.max(0, until - performance.now()))
  }
  const close = (): Promise<void> => (closing ??= end())
  const supervise = (options: SuperviseOptions = {}): Supervisor => {
    refuseUnknownFields('supervise', options, superviseOptionNames)
    if (options.logger !== undefined) checkLogger(options.logger)
    const started = opened.supervisor({ ...withLogger(connected), ...options })
    if (closing !== undefined) throw new EngineError('engine_closed', 'this FlowFabric is closed; connect again')
    running.add(started)
    started.start()
    return started
  }
  return { engine: opened.engine, supervise, close, [Symbol.asyncDispose]: close }
}

let warned = false

function warnOfPowerCuts(): void {
  if (warned) return
  warned = true
  process.emitWarning(
    'the embedded database survives a killed process, but not a power cut; use postgres:// for work that must',
    { type: 'FlowFabric', code: 'FLOWFABRIC_EMBEDDED' },
  )
}

const optionNames = [
  'migrate',
  'schema',
  'listenUrl',
  'prepare',
  'poolSize',
  'logger',
  'signing',
] as const satisfies readonly (keyof ConnectOptions)[]
