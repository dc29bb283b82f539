// Receives NOTIFY on one connection for all channels, opened by the first `listen`. Between hints the connection is
// idle, so statements that must not queue behind others also use it (`use`), once it has shown to be a session of ours.
//
//   connecting --ok--> listening --lost--> waiting (back-off) --> connecting
//       |                  |
//       +----failed--------+--deaf--> waiting (long) --> connecting
//
// Deaf: a notification that this process sent did not come back, as behind a pooler that shares sessions. That is
// logged once and tried again from time to time. After each connect, handlers receive `null`, because notifications
// that were sent meanwhile are lost. Hints only shorten waits: callers poll as well.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { decoderOf } from './decode.ts'
import { isConnectionLost } from './errors.ts'
import { Handlers, type ChannelHandler } from './handlers.ts'
import type { Logger } from './logger.ts'
import { isStartupRefused } from './postgres-failure.ts'
import { queryText, keepAlive, settle, startSettings } from './postgres-pool.ts'
import type { PostgresUrl } from './postgres-url.ts'
import { PreparationRefused } from './prepare.ts'
import { quoteIdentifier } from './qualify.ts'
import type { Silence } from './silence.ts'
import { TimelyClient } from './timely-client.ts'

type SessionEnd = 'lost' | 'failed' | 'deaf'

const firstWaitMs = 100
const longestWaitMs = 10_000
const deafWaitMs = 60_000
const pingEveryMs = 30_000
const echoWithinMs = 3_000

export interface ListenerOptions {
  readonly url: PostgresUrl
  /** Sends a NOTIFY over another connection, to check whether it arrives. */
  readonly notify: (channel: string, payload: string) => Promise<void>
  readonly silence: Silence
  readonly logger: Logger
}

export class Listener {
  readonly #options: ListenerOptions
  readonly #handlers: Handlers
  readonly #stop = new AbortController()
  #client: TimelyClient | undefined
  /** The same client, once it has shown that it is not a pooler's and has our settings. */
  #own: TimelyClient | undefined
  readonly #uses = new Set<Promise<unknown>>()
  #takesSettings = true
  #firstTry: Promise<void> | undefined
  #running: Promise<void> | undefined
  #warned = false
  #hasWorked = false

  constructor(options: ListenerOptions) {
    this.#options = options
    this.#handlers = new Handlers(options.logger)
  }

  /** Resolves when the channel is listened on, or when the first connect has failed and further ones follow. */
  async listen(channel: string, onHint: (payload: string | null) => void): Promise<() => Promise<void>> {
    const handler = this.#handlers.add(channel, onHint)
    const client = this.#client
    if (client === undefined) await (this.#firstTry ??= this.#start())
    else {
      await this.#listenOn(client, channel).then(
        () => this.#handlers.notify(handler, null),
        () => {}, // the loss of the connection is about to be noticed, and it is replaced
      )
    }
    return () => this.#unlisten(channel, handler)
  }

  /** Null while no session is available. A session that loses its connection during `work` is replaced. */
  use<T>(work: (client: TimelyClient) => Promise<T>): Promise<T> | null {
    const client = this.#own
    if (client === undefined) return null
    const use = work(client).catch((error: unknown) => {
      if (isConnectionLost(error instanceof PreparationRefused ? error.cause : error)) this.#giveUp(client)
      throw error
    })
    this.#uses.add(use)
    return use.finally(() => this.#uses.delete(use))
  }

  #giveUp(client: TimelyClient): void {
    if (this.#own === client) this.#own = undefined
    client.connection.stream.destroy()
  }

  /** Waits for calls under way on its connection, which are bounded. */
  async close(withinMs: number = this.#options.silence.withinMs): Promise<void> {
    if (this.#uses.size > 0) await Promise.race([Promise.allSettled(this.#uses), pause(withinMs, this.#stop.signal)])
    this.#stop.abort()
    await this.#running
  }

  async #unlisten(channel: string, handler: ChannelHandler): Promise<void> {
    if (!this.#handlers.remove(channel, handler)) return
    if (this.#client !== undefined)
      await queryText(this.#client, `unlisten ${quoteIdentifier(channel)}`).catch(() => {})
  }

  async #start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#running = this.#run(resolve)
    })
  }

  async #run(onFirstTry: () => void): Promise<void> {
    let failures = 0
    while (!this.#stop.signal.aborted) {
      const ending = await this.#session(onFirstTry)
      onFirstTry()
      failures = ending === 'failed' ? failures + 1 : 0
      const wait = ending === 'deaf' ? deafWaitMs : Math.min(longestWaitMs, firstWaitMs * 2 ** failures)
      // Half of the wait is random, so that a fleet does not reconnect at the same moment.
      await pause(wait * (0.5 + Math.random() / 2), this.#stop.signal)
    }
  }

  /** One connection, from its start to its end. */
  async #session(onListening: () => void): Promise<SessionEnd> {
    const { connectionString, serverOptions } = this.#options.url
    const settings = this.#takesSettings ? `${serverOptions} ${startSettings}`.trim() : serverOptions
    const client = new TimelyClient({
      connectionString,
      fallback_application_name: 'flowfabric listen',
      ...(settings === '' ? {} : { options: settings }),
      types: { getTypeParser: decoderOf },
      pipeline: true,
      ...keepAlive,
      silence: this.#options.silence,
    })
    const ended = new Promise<'ended'>((resolve) => client.once('end', () => resolve('ended')))
    client.on('error', () => {}) // 'end' follows
    client.on('notification', ({ channel, payload }) => this.#handlers.notifyChannel(channel, payload ?? ''))
    const stop = (): void => void client.end()
    this.#stop.signal.addEventListener('abort', stop)
    const over = new AbortController()
    let hasWorked = false
    try {
      // A client that ends while it connects never settles its `connect`.
      if ((await Promise.race([client.connect(), ended])) === 'ended') return this.#failed('the connection was closed')
      // Other channels may be added meanwhile.
      const listened = new Set<string>()
      const nextChannel = (): string | undefined => this.#handlers.channels.find((channel) => !listened.has(channel))
      for (let channel = nextChannel(); channel !== undefined; channel = nextChannel()) {
        listened.add(channel)
        await this.#listenOn(client, channel)
      }
      this.#client = client
      this.#handlers.notifyAll()
      onListening()
      const echo = await Promise.race([ended, this.#echo(client, over.signal)])
      if (echo === 'deaf') return this.#deaf()
      hasWorked = echo === 'heard'
      this.#hasWorked ||= hasWorked
      if (hasWorked && (await settle(client, this.#options.silence))) this.#own = client
      await this.#stay(client, ended, over.signal)
      return hasWorked ? 'lost' : this.#failed('the connection was closed at once')
    } catch (error) {
      if (isStartupRefused(error) && this.#takesSettings) {
        this.#takesSettings = false
        return 'lost'
      }
      return hasWorked ? 'lost' : this.#failed(error)
    } finally {
      over.abort()
      this.#client = undefined
      this.#own = undefined
      this.#stop.signal.removeEventListener('abort', stop)
      await client.end().catch(() => {})
    }
  }

  async #echo(client: TimelyClient, over: AbortSignal): Promise<'heard' | 'deaf'> {
    const channel = `ff_echo_${randomUUID()}`
    const echo = new Promise<'heard'>((resolve) => {
      client.on('notification', (notification) => {
        if (notification.channel === channel) resolve('heard')
      })
    })
    await this.#listenOn(client, channel)
    await this.#options.notify(channel, '')
    const echoed = await Promise.race([echo, pause(echoWithinMs, over)])
    await queryText(client, `unlisten ${quoteIdentifier(channel)}`)
    return echoed ?? 'deaf'
  }

  // A query at intervals detects a connection whose other side has vanished without closing it.
  async #stay(client: TimelyClient, ended: Promise<'ended'>, over: AbortSignal): Promise<void> {
    while ((await Promise.race([ended, pause(pingEveryMs, over)])) !== 'ended') await queryText(client, 'select 1')
  }

  async #listenOn(client: TimelyClient, channel: string): Promise<void> {
    await queryText(client, `listen ${quoteIdentifier(channel)}`)
  }

  #deaf(): SessionEnd {
    this.#warnOnce(
      'notifications do not arrive, so waiting callers poll instead: the URL points to a connection pooler or to another database; ' +
        'pass a direct URL as listenUrl',
    )
    return 'deaf'
  }

  #failed(error: unknown): SessionEnd {
    if (this.#stop.signal.aborted) return 'failed'
    const message = `cannot listen for notifications; waiting callers poll until the connection works: ${String(error)}`
    // A connection that worked before is lost in an outage. Other calls notice and report that.
    if (this.#hasWorked) this.#options.logger.debug(message)
    else this.#warnOnce(message)
    return 'failed'
  }

  #warnOnce(message: string): void {
    if (this.#warned) return
    this.#warned = true
    this.#options.logger.warn(message)
  }
}

/** Ends early, without an error, when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  await setTimeout(ms, undefined, { signal }).catch(() => {})
}
