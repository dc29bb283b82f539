// One exchange with a server: a request is sent, and a response arrives or is lost. Few sockets are kept open and
// reused. Waits have sockets of their own, because they would block short calls; so have renewals, because they must
// not queue.
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { LostConnection } from './lost-connection.ts'

export type Sockets = 'quick' | 'waiting' | 'leases'

export interface Ask {
  readonly method: string
  /** Relative to the server's URL, with its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly sockets: Sockets
  /** How long it may take until the response is complete; for `open`, until it begins. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

// One or two sets of an operation are under way at a time: more sockets would make smaller sets.
const mostQuickSockets = 16

// A longer timer would fire at once.
const longestTimerMs = 2 ** 31 - 1

export class Transport {
  readonly #base: URL
  readonly #isSecure: boolean
  readonly #agents: Readonly<Record<Sockets, HttpAgent>>
  readonly #underWay = new Set<ClientRequest>()
  #closedBy: Error | null = null

  constructor(base: URL) {
    this.#base = base
    this.#isSecure = base.protocol === 'https:'
    const agent = (maxSockets: number): HttpAgent => {
      const options = { keepAlive: true, maxSockets, noDelay: true } as const
      return this.#isSecure ? new HttpsAgent(options) : new HttpAgent(options)
    }
    this.#agents = { quick: agent(mostQuickSockets), waiting: agent(Infinity), leases: agent(2) }
  }

  /** The whole answer. */
  send(ask: Ask): Promise<Reply> {
    return this.#exchange(ask, async (answer) => ({
      status: answer.statusCode!,
      headers: answer.headers,
      text: await readText(answer),
    }))
  }

  /** A response whose body is read as it arrives. The reader destroys it. */
  open(ask: Ask): Promise<IncomingMessage> {
    return this.#exchange(ask, async (answer) => answer)
  }

  /** Aborts exchanges under way, and refuses new ones. */
  close(reason: Error): void {
    this.#closedBy ??= reason
    for (const request of this.#underWay) request.destroy()
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }

  // The caller that ended the exchange provides the reason: a destroyed socket only reports that it was destroyed.
  async #exchange<T>(ask: Ask, read: (answer: IncomingMessage) => Promise<T>): Promise<T> {
    const { signal, timeoutMs } = ask
    signal?.throwIfAborted()
    if (this.#closedBy !== null) throw this.#closedBy
    const request = this.#request(ask)
    let isLate = false
    const late = setTimeout(
      () => {
        isLate = true
        request.destroy()
      },
      Math.min(timeoutMs, longestTimerMs),
    )
    try {
      return await read(await answerTo(request, ask.body, this.#base))
    } catch (error) {
      signal?.throwIfAborted()
      if (this.#closedBy !== null) throw this.#closedBy
      throw isLate ? new LostConnection(`no answer within ${timeoutMs} ms`) : error
    } finally {
      clearTimeout(late)
    }
  }

  #request({ method, path, headers, body, sockets, signal }: Ask): ClientRequest {
    const { hostname, port, pathname } = this.#base
    const request = (this.#isSecure ? httpsRequest : httpRequest)({
      agent: this.#agents[sockets],
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      method,
      path: pathname.replace(/\/$/, '') + path,
      headers:
        body === undefined
          ? headers
          : { ...headers, 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` },
    })
    const stop = (): void => void request.destroy()
    this.#underWay.add(request)
    signal?.addEventListener('abort', stop)
    request.on('close', () => {
      this.#underWay.delete(request)
      signal?.removeEventListener('abort', stop)
    })
    return request
  }
}

function answerTo(
  request: ClientRequest,
  body: string | undefined,
  { protocol, origin }: URL,
): Promise<IncomingMessage> {
  const isSecure = protocol === 'https:'
  return new Promise((resolve, reject) => {
    // Before a socket is connected, no byte can have arrived.
    let isConnected = false
    request.on('socket', (socket) => {
      if (!socket.connecting) isConnected = true
      else socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true))
    })
    request.on('response', resolve)
    request.on('error', (error) => reject(new LostConnection(error, { isUnsent: !isConnected, origin })))
    request.end(body)
  })
}

function readText(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => resolve(chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString()))
    answer.on('error', (error) => reject(new LostConnection(error)))
  })
}
