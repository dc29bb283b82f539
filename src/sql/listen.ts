// Hears NOTIFY on a connection of its own, one for all channels, opened by the first of them. Between hints the connection is
// idle, so it is also where statements go that must not stand behind others (`use`), once it is known to be a session of ours.
//
//   connecting --ok--> listening --lost--> waiting (back-off) --> connecting
//       |                  |
//       +----failed--------+--deaf--> waiting (long) --> connecting
//
// Deaf: a notification that we sent ourselves did not come back, as behind a pooler that shares sessions. That is said
// once and tried again from time to time. Whatever happens, handlers hear `null` after each connect, because what was
// sent meanwhile is lost; hints only save waiting, callers poll.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { decoderOf } from './decode.ts'
import { isConnectionLost } from './errors.ts'
import { Handlers, type Handler } from './handlers.ts'
import type { Logger } from './logger.ts'
import { isStartupRefused } from './postgres-failure.ts'
import { ask, keepAlive, settle, startSettings } from './postgres-pool.ts'
import type { PostgresUrl } from './postgres-url.ts'
import { Refused } from './prepare.ts'
import { quoteIdentifier } from './qualify.ts'
import type { Silence } from './silence.ts'
import { TimelyClient } from './timely-client.ts'

type Ending = 'lost' | 'failed' | 'deaf'

const firstWaitMs = 100
const longestWaitMs = 10_000
const deafWaitMs = 60_000
const pingEveryMs = 30_000
const echoWithinMs = 3_000

export interface ListenerOptions {
  readonly url: PostgresUrl
  /** Sends a NOTIFY over another connection, to hear whether it arrives. */
  readonly notify: (channel: string, payload: string) => Promise<void>
  readonly silence: Silence
  readonly logger: Logger
}

export class Listener {
  readonly #options: ListenerOptions
  readonly #handlers: Handlers
  readonly #stop = new AbortController()
  #client: TimelyClient | undefined
  /** The same, once it has shown that it is no pooler's, and has our settings. */
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

  /** Resolves when the channel is heard, or when the first try to connect has failed and others follow. */
  async listen(channel: string, onHint: (payload: string | null) => void): Promise<() => Promise<void>> {
    const handler = this.#handlers.add(channel, onHint)
    const client = this.#client
    if (client === undefined) await (this.#firstTry ??= this.#start())
    else {
      await this.#listenOn(client, channel).then(
        () => this.#handlers.tell(handler, null),
        () => {}, // the connection is about to be found lost, and made anew
      )
    }
    return () => this.#unlisten(channel, handler)
  }

  /** Null while there is no session to use. One that loses its connection under it is made anew. */
  use<T>(work: (client: TimelyClient) => Promise<T>): Promise<T> | null {
    const client = this.#own
    if (client === undefined) return null
    const use = work(client).catch((error: unknown) => {
      if (isConnectionLost(error instanceof Refused ? error.cause : error)) this.#giveUp(client)
      throw error
    })
    this.#uses.add(use)
    return use.finally(() => this.#uses.delete(use))
  }

  #giveUp(client: TimelyClient): void {
    if (this.#own === client) this.#own = undefined
    client.connection.stream.destroy()
  }

  /** After what is under way on its connection, which is bounded. */
  async close(withinMs: number = this.#options.silence.withinMs): Promise<void> {
    if (this.#uses.size > 0) await Promise.race([Promise.allSettled(this.#uses), pause(withinMs, this.#stop.signal)])
    this.#stop.abort()
    await this.#running
  }

  async #unlisten(channel: string, handler: Handler): Promise<void> {
    if (!this.#handlers.remove(channel, handler)) return
    if (this.#client !== undefined) await ask(this.#client, `unlisten ${quoteIdentifier(channel)}`).catch(() => {})
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
      // Half of it at random, so that a fleet does not come back at one moment.
      await pause(wait * (0.5 + Math.random() / 2), this.#stop.signal)
    }
  }

  /** One connection, from its start to its end. */
  async #session(onListening: () => void): Promise<Ending> {
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
    client.on('notification', ({ channel, payload }) => this.#handlers.tellChannel(channel, payload ?? ''))
    const stop = (): void => void client.end()
    this.#stop.signal.addEventListener('abort', stop)
    const over = new AbortController()
    let hasWorked = false
    try {
      // One that is ended while it connects never settles its connect.
      if ((await Promise.race([client.connect(), ended])) === 'ended') return this.#failed('the connection was closed')
      // Others may be asked for while this goes on.
      const heard = new Set<string>()
      const nextChannel = (): string | undefined => this.#handlers.channels.find((channel) => !heard.has(channel))
      for (let channel = nextChannel(); channel !== undefined; channel = nextChannel()) {
        heard.add(channel)
        await this.#listenOn(client, channel)
      }
      this.#client = client
      this.#handlers.tellAll()
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
    const heard = await Promise.race([echo, pause(echoWithinMs, over)])
    await ask(client, `unlisten ${quoteIdentifier(channel)}`)
    return heard ?? 'deaf'
  }

  // A connection whose other side vanished without a word is found by asking.
  async #stay(client: TimelyClient, ended: Promise<'ended'>, over: AbortSignal): Promise<void> {
    while ((await Promise.race([ended, pause(pingEveryMs, over)])) !== 'ended') await ask(client, 'select 1')
  }

  async #listenOn(client: TimelyClient, channel: string): Promise<void> {
    await ask(client, `listen ${quoteIdentifier(channel)}`)
  }

  #deaf(): Ending {
    this.#warnOnce(
      'notifications do not arrive, so waiting callers poll instead: the URL points to a connection pooler or to another database; ' +
        'pass a direct URL as listenUrl',
    )
    return 'deaf'
  }

  #failed(error: unknown): Ending {
    if (this.#stop.signal.aborted) return 'failed'
    const message = `cannot listen for notifications; waiting callers poll until the connection works: ${String(error)}`
    // A connection that worked before is lost in an outage, which other calls notice and report.
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

/** Ends early, and quietly, when the signal comes. */
async function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  await setTimeout(ms, undefined, { signal }).catch(() => {})
}
