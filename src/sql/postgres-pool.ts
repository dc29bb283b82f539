// The pool: how connections are made, lent and returned. A connection that is broken, or that is not plainly idle,
// never returns to it.
import pg from 'pg'
import { decoderOf } from './decode.ts'
import { DatabaseError, isConnectionLost, sqlState } from './errors.ts'
import type { Logger } from './logger.ts'
import { planOptions } from './plan-settings.ts'
import { connectFailure, connectionLost, isStartupRefused } from './postgres-failure.ts'
import { parsePostgresUrl } from './postgres-url.ts'
import { leadsToPooler, PreparedSet, type PreparedCall } from './prepared-query.ts'
import { PreparationRefused } from './prepare.ts'
import type { Silence } from './silence.ts'
import { SilentConnection, TimelyClient, type TimelyConfig } from './timely-client.ts'

export type PooledClient = TimelyClient & pg.PoolClient

export interface PoolOptions {
  readonly url: string
  readonly size: number
  readonly silence: Silence
  readonly logger: Logger
}

// The isolation level is the one that the engine's locking relies on, whatever the default of the database. The timeout
// releases the locks of a process that froze in the middle of a transaction; keepalives release those of a process
// whose machine is gone.
export const startSettings: string = [
  planOptions,
  '-c default_transaction_isolation=read\\ committed',
  '-c idle_in_transaction_session_timeout=61s',
  '-c tcp_keepalives_idle=10',
  '-c tcp_keepalives_interval=5',
].join(' ')

/** As the server's keepalives, from this side: for connections without a call under way. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const

const idleMs = 300_000

export class Connections {
  /** The other side is a pooler: it refused or ignored our settings, and does not keep the settings of a session. */
  readonly isPooled: boolean
  readonly #pool: pg.Pool
  readonly #url: string
  readonly #silence: Silence
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #lent = new Set<PooledClient>()
  readonly #logger: Logger
  /**
   * The last connection that was returned, kept at hand: to go through the pool takes 50 microseconds of an idle
   * process (measured).
   */
  #spare: PooledClient | undefined
  #isCutOff = false

  private constructor(pool: pg.Pool, { url, silence, logger }: PoolOptions, isPooled: boolean) {
    this.#pool = pool
    this.#url = url
    this.#silence = silence
    this.#logger = logger
    this.isPooled = isPooled
  }

  /** Connects once, so that a wrong URL fails at the start. */
  static async open(options: PoolOptions): Promise<Connections> {
    const { serverOptions } = parsePostgresUrl(options.url)
    try {
      const { pool, hasSettings } = await openPool(options, `${serverOptions} ${startSettings}`.trim())
      return new Connections(pool, options, !hasSettings)
    } catch (error) {
      if (!isStartupRefused(error)) throw connectFailure(error, options.url)
    }
    try {
      const { pool } = await openPool(options, serverOptions)
      return new Connections(pool, options, true)
    } catch (error) {
      throw connectFailure(error, options.url)
    }
  }

  /** `answerWithinMs` is for work whose statements may take longer than others. */
  use<T>(work: (client: PooledClient) => Promise<T>, answerWithinMs?: number): Promise<T> {
    const use = this.#lend(work, answerWithinMs)
    this.#underWay.add(use)
    return use.finally(() => this.#underWay.delete(use))
  }

  async #lend<T>(work: (client: PooledClient) => Promise<T>, answerWithinMs: number | undefined): Promise<T> {
    const client = this.#takeSpare() ?? (await this.#connect())
    let isBroken = this.#isCutOff
    const onError = (): void => {
      isBroken = true
    }
    client.on('error', onError)
    this.#lent.add(client)
    client.isLent = true
    client.answerWithin(answerWithinMs)
    if (this.isPooled) leadsToPooler(client)
    try {
      if (this.#isCutOff) throw cutOff()
      return await work(client)
    } catch (error) {
      if (this.#isCutOff) throw cutOff(error)
      isBroken ||= isConnectionLost(error instanceof PreparationRefused ? error.cause : error)
      throw error
    } finally {
      this.#lent.delete(client)
      client.isLent = false
      client.off('error', onError)
      this.#takeBack(client, isBroken || client.getTransactionStatus() !== 'I')
    }
  }

  async #connect(): Promise<PooledClient> {
    try {
      const client = (await this.#pool.connect()) as PooledClient
      return await this.#settled(client)
    } catch (error) {
      throw connectFailure(error, this.#url)
    }
  }

  async #settled(client: PooledClient): Promise<PooledClient> {
    if (client.isSettled || this.isPooled) return client
    try {
      await settle(client, this.#silence)
      return client
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  #takeSpare(): PooledClient | undefined {
    const client = this.#spare
    this.#spare = undefined
    client?.off('error', this.#onSpareLost)
    return client
  }

  #takeBack(client: PooledClient, isUnfit: boolean): void {
    if (isUnfit || this.#spare !== undefined || this.#pool.waitingCount > 0) return client.release(isUnfit)
    this.#spare = client
    client.on('error', this.#onSpareLost)
  }

  readonly #onSpareLost = (error: Error): void => {
    this.#takeSpare()?.release(error)
    reportIdle(this.#logger, error)
  }

  /** Waits for calls under way: the pool would drop callers that still wait for a connection, and never settle them. */
  async close(withinMs?: number): Promise<void> {
    const timer = withinMs === undefined ? undefined : setTimeout(() => this.#cutOff(), withinMs)
    await Promise.allSettled(this.#underWay)
    clearTimeout(timer)
    this.#takeSpare()?.release()
    await this.#pool.end()
  }

  #cutOff(): void {
    this.#isCutOff = true
    for (const client of this.#lent) client.connection.stream.destroy()
  }
}

/**
 * The next call opens another connection. If that fails, the database is unreachable, which is reported once and not
 * for each connection.
 */
function reportIdle(logger: Logger, error: Error): void {
  if (!(error instanceof SilentConnection)) logger.debug(`an idle database connection was lost: ${error.message}`)
}

function cutOff(cause?: unknown): DatabaseError {
  const hint = 'The outcome of the last call is unknown; open a new handle and check.'
  return new DatabaseError('closed', 'The database handle was closed before the response arrived', hint, cause)
}

/** Sends without waiting for earlier replies. An error that is no reply of the server means a lost connection. */
export function queryText(client: TimelyClient, text: string): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    client.sent()
    client.query(text, (error: Error | null, result) => {
      client.answered()
      if (error === null) resolve(result)
      else reject(asFailure(error, false))
    })
  })
}

/**
 * As `queryText`, for the rows of prepared statements. They are one transaction, unless one is open. All of them
 * succeed or none; a refusal is thrown as `PreparationRefused`. Uses a callback, because replies that pass through a promise of
 * `pg` are not collected while they are young (measured: half of what claims had read was still in memory, and a worker
 * that had drained 20,000 was a third larger and a third slower).
 */
export function queryPrepared(client: TimelyClient, calls: readonly PreparedCall[]): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    client.sent()
    const set = new PreparedSet(calls, (error, rows, failedAt) => {
      client.answered()
      if (error === null) resolve(rows)
      else reject(new PreparationRefused(asFailure(error, areReads(calls)), calls[failedAt]?.prepared))
    })
    inOneWrite(client, () => client.query(set))
  })
}

function asFailure(error: Error, isRead: boolean): Error {
  return sqlState(error) === undefined && !isOurs(error) ? connectionLost(error, isRead) : error
}

const writes = /\b(insert\s+into|update\s+\w+\.|delete\s+from|pg_notify|commit)\b/i

/** A lock is no write: it is released with its connection. */
function areReads(calls: readonly PreparedCall[]): boolean {
  return !calls.some(({ prepared }) => writes.test(prepared.statement.text))
}

function isOurs(error: unknown): boolean {
  return error instanceof RangeError || error instanceof TypeError || error instanceof DatabaseError
}

/**
 * Sends everything that `write` writes in one packet (measured: a third less time for a pipeline than one packet a
 * message).
 */
function inOneWrite<T>(client: TimelyClient, write: () => T): T {
  const { stream } = client.connection
  stream.cork()
  try {
    return write()
  } finally {
    stream.uncork()
  }
}

interface OpenPool {
  readonly pool: pg.Pool
  readonly hasSettings: boolean
}

async function openPool({ url, size, silence, logger }: PoolOptions, settings: string): Promise<OpenPool> {
  const config: pg.PoolConfig & TimelyConfig = {
    connectionString: parsePostgresUrl(url).connectionString,
    fallback_application_name: 'flowfabric',
    ...(settings === '' ? {} : { options: settings }),
    types: { getTypeParser: decoderOf },
    pipeline: true,
    ...keepAlive,
    max: size,
    idleTimeoutMillis: idleMs,
    silence,
    Client: TimelyClient as unknown as new () => pg.ClientBase,
  }
  const pool = new pg.Pool(config)
  // The caller that has the connection notices its end by a failed query. At other times no caller has it: when its end
  // arrives in the same packet as its start, between two callers, and after it was given up. An error event without a
  // listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', (error) => reportIdle(logger, error))
  try {
    return { pool, hasSettings: await hasSettings((await pool.connect()) as PooledClient, silence) }
  } catch (error) {
    await pool.end()
    throw error
  }
}

async function hasSettings(client: PooledClient, silence: Silence): Promise<boolean> {
  try {
    const isSettled = await settle(client, silence)
    client.release()
    return isSettled
  } catch (error) {
    client.release(true)
    throw error
  }
}

/**
 * Whether the session has our settings, by a value that no other client would choose: some poolers accept our settings
 * and drop them. If it has, the server's limit for a statement is set in step with ours, unless the role or the
 * database has a shorter one.
 */
export async function settle(client: TimelyClient, { statementTimeoutMs }: Silence): Promise<boolean> {
  const { rows } = await queryText(
    client,
    `select settings.value,
  case when settings.value = '61s' and not settings.is_shorter
    then set_config('statement_timeout', '${statementTimeoutMs}', false)
  end as statement_timeout
from (
  select current_setting('idle_in_transaction_session_timeout') as value,
    current_setting('statement_timeout')::interval between '1 ms' and '${statementTimeoutMs} ms' as is_shorter
) settings`,
  )
  client.isSettled = true
  return (rows[0] as { value?: unknown } | undefined)?.value === '61s'
}
