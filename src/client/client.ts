// A client of one server: it calls any operation, and closes.
import { randomUUID } from 'node:crypto'
import { headers as names } from '../api/headers.ts'
import type { Route } from '../api/route.ts'
import { EngineError } from '../model/errors.ts'
import { retryAfterMs, valueOf } from './answer.ts'
import { LostConnection } from './lost-connection.ts'
import type { WireRequest } from './request.ts'
import { Later, untilAnswered } from './retry.ts'
import { Transport, type Reply, type Sockets } from './transport.ts'

/** Notified by every request whether the server, and the database behind it, can be reached. */
export interface ConnectionWatcher {
  failed(what: 'database' | 'server', reason: string, sentAt: number): void
  answered(sentAt: number): void
  /** The client is closed: calls that fail from now on are not reported. */
  close(): void
}

export interface ClientOptions {
  readonly token?: string | undefined
  /** How long a reply may take, besides the time that the request itself waits. */
  readonly timeoutMs: number
  /** How long calls that are safe to repeat are sent again. */
  readonly patienceMs: number
  /** The longest wait of one request: a server allows a minute, and proxies often less. */
  readonly longestWaitMs: number
  readonly watcher?: ConnectionWatcher | undefined
}

export interface Called extends WireRequest {
  readonly route: Route
  readonly headers: Readonly<Record<string, string>>
  readonly isRepeatable: boolean
  /** How long the server may wait before it replies. */
  readonly waitMs?: number
  readonly signal?: AbortSignal | undefined
}

// A late renewal is as bad as none, so these never queue behind others.
const leaseOperations: readonly string[] = ['renewExecutions', 'checkLeases']

export class Client {
  readonly transport: Transport
  readonly options: ClientOptions
  readonly #taken = new Set<Promise<unknown>>()
  /** Aborted when the client begins to close: waits end then. */
  readonly #waits = new AbortController()
  #closing: Promise<void> | null = null
  #namespace: string | null = null

  constructor(base: URL, options: ClientOptions) {
    this.transport = new Transport(base)
    this.options = options
  }

  get isClosing(): boolean {
    return this.#closing !== null
  }

  /** The namespace that the server uses for requests without one, from its last reply; null before the first. */
  get namespace(): string | null {
    return this.#namespace
  }

  headers(bound: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const { token } = this.options
    return { ...bound, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  }

  /** Runs a call of the user, which a close waits for; refused once the client is closing. */
  async take<T>(act: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) throw clientClosed()
    const taken = act()
    this.#taken.add(taken)
    try {
      return await taken
    } finally {
      this.#taken.delete(taken)
    }
  }

  /** Accepts no more calls, ends waits, and lets the others finish within this time. */
  close(longestMs: number): Promise<void> {
    return (this.#closing ??= this.#finish(longestMs))
  }

  async #finish(longestMs: number): Promise<void> {
    this.#waits.abort(clientClosed())
    let timer: NodeJS.Timeout | undefined
    const givenUp = new Promise((resolve) => (timer = setTimeout(resolve, longestMs)))
    await Promise.race([Promise.allSettled(this.#taken), givenUp])
    clearTimeout(timer)
    this.options.watcher?.close()
    this.transport.close(clientClosed())
  }

  /** Returns the value of the reply. A refusal is thrown as the server would throw it. */
  async call(called: Called): Promise<unknown> {
    const { signal, done } = this.#endOf(called)
    try {
      return await this.#untilAnswered(called, signal)
    } finally {
      done()
    }
  }

  #untilAnswered(called: Called, signal: AbortSignal | undefined): Promise<unknown> {
    const { route, isRepeatable } = called
    const requestId = randomUUID()
    const { patienceMs } = this.options
    return untilAnswered({ isRepeatable, patienceMs, signal }, async () => {
      const sentAt = performance.now()
      const reply = await this.#send({ ...called, signal }, requestId).catch((error: unknown) => {
        if (error instanceof LostConnection) this.options.watcher?.failed('server', error.message, sentAt)
        throw error
      })
      this.#readNamespace(called, reply)
      try {
        const value = valueOf(route, reply, requestId)
        this.options.watcher?.answered(sentAt)
        return value
      } catch (error) {
        this.#watchRefusal(error, sentAt)
        const isLater = EngineError.is(error) && (reply.status === 429 || reply.status === 503)
        throw isLater ? new Later(error, retryAfterMs(reply)) : error
      }
    })
  }

  #watchRefusal(error: unknown, sentAt: number): void {
    if (EngineError.is(error, 'server_stopping')) this.options.watcher?.failed('server', error.message, sentAt)
    else if (EngineError.is(error, 'database_unreachable'))
      this.options.watcher?.failed('database', error.message, sentAt)
    else this.options.watcher?.answered(sentAt)
  }

  // A reply to a caller that is bound to another namespace names that one.
  #readNamespace({ headers }: Called, reply: Reply): void {
    const named = reply.headers[names.namespace]
    if (typeof named !== 'string' || headers[names.namespace] !== undefined) return
    this.#namespace = decodeURIComponent(named)
  }

  // Both signals may live as long as the process, so the call must leave no listener on them: AbortSignal.any would.
  #endOf({ signal, waitMs = 0 }: Called): { readonly signal: AbortSignal | undefined; readonly done: () => void } {
    if (waitMs === 0) return { signal, done() {} }
    const closing = this.#waits.signal
    if (signal === undefined) return { signal: closing, done() {} }
    const either = new AbortController()
    const end = (): void => either.abort((signal.aborted ? signal : closing).reason)
    const both = [signal, closing]
    if (both.some(({ aborted }) => aborted)) end()
    for (const each of both) each.addEventListener('abort', end)
    return {
      signal: either.signal,
      done() {
        for (const each of both) each.removeEventListener('abort', end)
      },
    }
  }

  #send({ route, path, body, headers, waitMs = 0, signal }: Called, requestId: string): Promise<Reply> {
    return this.transport.send({
      method: route.method,
      path,
      body,
      headers: {
        ...this.headers(headers),
        [names.requestId]: requestId,
        ...(route.plain !== undefined && { [names.plain]: 'omit' }),
        accept: 'application/json',
      },
      sockets: socketsFor(route, waitMs),
      timeoutMs: this.options.timeoutMs + waitMs,
      signal,
    })
  }
}

function socketsFor({ operationId }: Route, waitMs: number): Sockets {
  if (waitMs > 0) return 'waiting'
  return leaseOperations.includes(operationId) ? 'leases' : 'quick'
}

export function clientClosed(): EngineError {
  return new EngineError(
    'engine_closed',
    'the connection to the server was closed and takes no more calls; connect again',
  )
}
