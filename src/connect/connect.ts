// Opens the database or the server that the URL names, migrates the schema, and returns the `FlowFabric` of the user.
import { openEngine } from '../engine/engine.ts'
import type { EngineError } from '../model/errors.ts'
import { loggerOf, type Logger } from '../model/logger.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { migrate, type MigrateOptions } from '../sql/migrate.ts'
import { migrations } from '../sql/migrations/all.ts'
import type { Sql } from '../sql/sql.ts'
import { checkOptions, checkTimeout, refuseDatabaseOptions } from './check-options.ts'
import { asConnectError } from './connect-error.ts'
import type { ServerOptions } from './connect-server.ts'
import { noticeCreation, noticePowerLoss } from './embedded-notice.ts'
import type { FlowFabric } from './flowfabric.ts'
import { hold } from './hold.ts'
import { Outage } from './outage.ts'
import { watched } from './watched-sql.ts'
import { checkSigning, type SigningOptions } from './signing-options.ts'
import { grantTo } from './grant-to.ts'
import { parseUrl, type ConnectTarget } from './url.ts'
import { codeVersion } from '../model/version.ts'

export interface ConnectOptions extends ServerOptions {
  /**
   * Whether to migrate the schema (`true`, the default), to refuse to start when it is not up to date (`'check'`), or
   * not to read its version (`false`).
   */
  readonly migrate?: MigrateOptions['mode']
  /**
   * A database role that uses the schema and does not own it. It is granted all the rights that it needs, once the
   * schema is up to date. Only the owner may grant them.
   */
  readonly grantTo?: string
  /** The schema that holds the tables; defaults to `flowfabric`. */
  readonly schema?: string
  /** A direct connection for LISTEN, where `url` leads to a pooler such as PgBouncer. */
  readonly listenUrl?: string
  /** Prepare statements by name; defaults to true. The URL parameter `?prepare=false` turns it off. */
  readonly prepare?: boolean
  /**
   * Connections to Postgres for all work; defaults to 4, and one suffices. One more connection listens and renews
   * leases, so that a renewal never queues behind other statements.
   */
  readonly poolSize?: number
  /**
   * For an embedded directory that another process has open and serves, as `flowfabric dev` does: connect to that
   * process (true, the default), or refuse (false).
   */
  readonly share?: boolean
  /** How waitpoint tokens are signed. Left out: by a key that the first start creates. */
  readonly signing?: SigningOptions
}

/**
 * Opens FlowFabric on a database, or on a server.
 *
 * @example
 * const ff = await connect('file:./.flowfabric')
 * const { executionId } = await ff.engine.executions.create({ kind: 'send-email' })
 * await ff.close()
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<FlowFabric> {
  refuseUnknownFields('connect', options, optionNames)
  const target = parseUrl(url)
  if (target.kind === 'server') return openServer(target.url, options)
  checkOptions(options, target)
  const signing = options.signing === undefined ? {} : { signing: checkSigning(options.signing) }
  const logger = loggerOf(options.logger)
  try {
    const sql = await open(target, options, logger)
    try {
      await migrate(sql, migrations, { mode: options.migrate ?? true, codeVersion, logger })
      if (options.grantTo !== undefined) await grantTo(sql, options.grantTo)
      const opened = openEngine(sql, signing)
      // A wrong secret fails here, and not later in the first call that suspends.
      if (options.signing !== undefined) await opened.readySigningKeys()
      const { codec, telemetry } = options
      return hold({ sql, opened, codec, logger, telemetry })
    } catch (error) {
      await sql.close()
      throw error
    }
  } catch (error) {
    const failure = asConnectError(error)
    return (await shared(target, options, failure)) ?? Promise.reject(failure)
  }
}

/**
 * Connects to the process that has the directory open; null when it does not serve, or when its server would behave
 * differently.
 */
async function shared(target: Database, options: ConnectOptions, failure: EngineError): Promise<FlowFabric | null> {
  const { share = true, schema, signing, logger, codec, telemetry } = options
  if (failure.code !== 'directory_locked' || target.kind !== 'embedded' || target.directory === null) return null
  if (!share || schema !== undefined || signing !== undefined) return null
  const { localServer } = await import('./local-server.ts')
  const server = await localServer(target.directory)
  if (server === null) return null
  const { url, token } = server
  return openServer(url, {
    ...(token !== undefined && { token }),
    ...(logger !== undefined && { logger }),
    ...(codec !== undefined && { codec }),
    ...(telemetry !== undefined && { telemetry }),
  })
}

async function openServer(url: string, options: ConnectOptions): Promise<FlowFabric> {
  refuseDatabaseOptions(options)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const { connectServer } = await import('./connect-server.ts')
  return connectServer(url, Object.fromEntries(given))
}

type Database = Exclude<ConnectTarget, { readonly kind: 'server' }>

async function open(target: Database, options: ConnectOptions, logger: Logger): Promise<Sql> {
  const {
    schema = 'flowfabric',
    migrate: mode,
    grantTo: _grantTo,
    signing: _signing,
    codec: _codec,
    telemetry: _telemetry,
    logger: _logger,
    share: _share,
    timeout,
    ...rest
  } = options
  if (target.kind === 'postgres') {
    const { openPostgres } = await import('../sql/postgres.ts')
    // A migration outside a transaction holds its lock on one connection and runs on another.
    const needsTwo = mode !== false && migrations.some(({ transactional }) => !transactional)
    const poolSize = Math.max(needsTwo ? 2 : 1, rest.poolSize ?? 4)
    const answer = timeout === undefined ? {} : { answerWithinMs: checkTimeout(timeout) }
    const sql = await openPostgres({ ...rest, ...answer, logger, url: target.url, schema, poolSize })
    return watched(sql, new Outage(logger))
  }
  const { openEmbedded } = await import('../sql/pglite.ts')
  const { directory } = target
  if (directory !== null) noticePowerLoss(logger)
  // An image contains the schema, under its default name.
  const hasImage = schema === 'flowfabric' && (mode === undefined || mode === true)
  const image = async (): Promise<Buffer | null> => {
    if (directory !== null) noticeCreation(directory, options.logger === undefined ? undefined : logger)
    if (!hasImage) return null
    const { readImage } = await import('../sql/embedded-image.ts')
    return readImage(migrations)
  }
  return openEmbedded({ directory, schema, image, logger })
}

const optionNames = [
  'migrate',
  'schema',
  'grantTo',
  'listenUrl',
  'prepare',
  'poolSize',
  'share',
  'logger',
  'signing',
  'codec',
  'telemetry',
  'token',
  'timeout',
  'retryFor',
] as const satisfies readonly (keyof ConnectOptions)[]
