// A subscription over HTTP. Every block of the stream carries its cursor. When the connection is lost, or the server
// stops, the next connection continues after the last event that was delivered, so that no event is lost or repeated.
import { setTimeout as sleep } from 'node:timers/promises'
import { eventRoutes } from '../api/route/of-server.ts'
import { errorFrom } from '../api/wire.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { SubscribeRequest } from '../engine/event/subscribe.ts'
import type { Subscription, Truncated } from '../engine/event/subscription.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { checkAbortSignal } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { refusalOf, retryAfterMs } from './answer.ts'
import { clientClosed, type Client } from './client.ts'
import { EventBlocks, type Block } from './event-blocks.ts'
import { LostConnection } from './lost-connection.ts'
import { requestOf } from './request.ts'
import { Later, untilAnswered } from './retry.ts'

type SubscriptionStep = IteratorResult<LogEvent | Truncated, undefined>

const route = eventRoutes.subscribe
// A server is never silent for so long: the connection is dead, and no error has reported it.
const longestSilenceMs = 45_000
const firstPauseMs = 50
const longestPauseMs = 5000

/** Begins when the server has accepted it. */
export async function subscribe(
  client: Client,
  headers: Readonly<Record<string, string>>,
  request: SubscribeRequest,
): Promise<Subscription> {
  if (typeof request !== 'object' || request === null) {
    throw refusal('invalid_input', 'the request to subscribe', show(request), 'an object')
  }
  const { signal, ...fields } = request
  checkAbortSignal(signal)
  const subscription = new HttpSubscription(client, headers, requestOf(route, fields).path, signal)
  await subscription.begin()
  return subscription
}

class HttpSubscription implements Subscription {
  readonly #client: Client
  readonly #headers: Readonly<Record<string, string>>
  readonly #path: string
  readonly #signal: AbortSignal | undefined
  readonly #end = new AbortController()
  readonly #stop = (): void => this.#close()
  #blocks: EventBlocks | null = null
  #cursor = ''
  #pauseMs = firstPauseMs
  #turn: Promise<unknown> = Promise.resolve()

  constructor(
    client: Client,
    headers: Readonly<Record<string, string>>,
    path: string,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client
    this.#headers = headers
    this.#path = path
    this.#signal = signal
    signal?.addEventListener('abort', this.#stop)
    if (signal?.aborted === true) this.#close()
  }

  get cursor(): string {
    return this.#cursor
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The first block carries the position at which it begins. */
  async begin(): Promise<void> {
    if (this.#end.signal.aborted) return
    const { patienceMs } = this.#client.options
    await untilAnswered({ isRepeatable: true, patienceMs, signal: this.#end.signal }, () => this.#connect()).catch(
      (error: unknown) => {
        if (this.#end.signal.aborted) return
        this.#close()
        throw error
      },
    )
  }

  /** Concurrent calls are served in order. */
  next(): Promise<SubscriptionStep> {
    const turn = this.#turn.then(() => this.#take())
    this.#turn = turn.catch(() => {})
    return turn
  }

  async return(): Promise<SubscriptionStep> {
    this.#close()
    return { done: true, value: undefined }
  }

  async #take(): Promise<SubscriptionStep> {
    const over: SubscriptionStep = { done: true, value: undefined }
    try {
      while (!this.#end.signal.aborted) {
        const block = await this.#nextBlock()
        if (block === null) continue
        const value = this.#read(block)
        if (value === 'over') break
        if (value !== null) return { done: false, value }
      }
      this.#close()
      return over
    } catch (error) {
      const isOver = this.#end.signal.aborted
      this.#close()
      if (isOver) return over
      throw error
    }
  }

  /** Null when the connection was lost; a new one follows, at once or after a pause. */
  async #nextBlock(): Promise<Block | null> {
    try {
      if (this.#blocks === null) await this.#connect()
      const block = await this.#within(longestSilenceMs, this.#blocks!)
      if (block !== null) this.#pauseMs = firstPauseMs
      if (block !== null && block.event !== 'end') return block
      if (block !== null && isOver(block)) return block
      this.#disconnect()
      return null
    } catch (error) {
      this.#disconnect()
      if (this.#client.isClosing) throw clientClosed()
      const mayGoOn = error instanceof LostConnection || error instanceof Later || isRetryable(error)
      if (!mayGoOn) throw error
      const pauseMs = Math.max(this.#pauseMs, error instanceof Later ? error.afterMs : 0)
      this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs)
      await sleep(pauseMs, undefined, { signal: this.#end.signal })
      return null
    }
  }

  #read({ id, event, data }: Block): LogEvent | Truncated | 'over' | null {
    if (event === 'end') return 'over'
    if (event === 'error') throw errorFrom(JSON.parse(data ?? 'null'))
    if (id !== null) this.#cursor = id
    return data === null ? null : (JSON.parse(data) as LogEvent | Truncated)
  }

  async #connect(): Promise<void> {
    const answer = await this.#client.transport.open({
      method: route.method,
      path: this.#path,
      headers: {
        ...this.#client.headers(this.#headers),
        accept: 'text/event-stream',
        ...(this.#cursor !== '' && { 'last-event-id': this.#cursor }),
      },
      sockets: 'waiting',
      timeoutMs: this.#client.options.timeoutMs,
      signal: this.#end.signal,
    })
    const blocks = new EventBlocks(answer)
    if (answer.statusCode !== 200 || !(answer.headers['content-type'] ?? '').startsWith('text/event-stream')) {
      const reply = { status: answer.statusCode!, headers: answer.headers, text: await textOf(answer) }
      const refused = refusalOf(route, reply, '')
      throw reply.status === 429 || reply.status === 503 ? new Later(refused, retryAfterMs(reply)) : refused
    }
    this.#blocks = blocks
    const first = await this.#within(this.#client.options.timeoutMs, blocks)
    if (first !== null) this.#cursor = first.id ?? this.#cursor
  }

  async #within(longestMs: number, blocks: EventBlocks): Promise<Block | null> {
    const silence = setTimeout(() => blocks.close(), longestMs)
    try {
      return await blocks.next()
    } catch (error) {
      throw new LostConnection(error as Error)
    } finally {
      clearTimeout(silence)
    }
  }

  #disconnect(): void {
    this.#blocks?.close()
    this.#blocks = null
  }

  #close(): void {
    if (this.#end.signal.aborted) return
    this.#end.abort()
    this.#signal?.removeEventListener('abort', this.#stop)
    this.#disconnect()
  }
}

function isOver({ data }: Block): boolean {
  return (JSON.parse(data ?? '{}') as { reason?: unknown }).reason === 'over'
}

function isRetryable(error: unknown): boolean {
  return EngineError.is(error) && error.retryable
}

async function textOf(answer: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
