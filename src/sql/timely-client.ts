// A client of pg with limits for its start, its end and every reply.
//
// A connection can be open and dead: the server was replaced at its address, a NAT or a proxy has dropped it, a pooler
// hangs. TCP reports that after a quarter of an hour, and behind a proxy that still answers, never. So each connection
// times its oldest unanswered statement. When no byte has arrived for `withinMs`, the connection is destroyed, and all
// its statements fail as lost. One silent connection makes the others suspect (`Silence`).
import type { Socket } from 'node:net'
import pg from 'pg'
import type { Silence } from './silence.ts'

export interface TimelyConfig extends pg.ClientConfig {
  /** Left out: replies have no limit. */
  readonly silence?: Silence
}

/** Why a connection was dropped. */
export class SilentConnection extends Error {}

const connectWithinMs = 10_000
const partWithinMs = 1000

export class TimelyClient extends pg.Client {
  /** A caller owns it; false while it is idle in the pool, and for the listening one. */
  isLent = false
  /** Its session was checked for our settings. */
  isSettled = false
  readonly #silence: Silence | undefined
  #unanswered = 0
  #withinMs: number
  #isSuspect = false
  #timer: NodeJS.Timeout | undefined
  #armedForMs = Infinity
  #bytesRead = 0
  #lastAnswerAt = -Infinity

  // The pool's own limit for connecting would also limit the wait for a free connection, and that wait is no failure.
  constructor({ silence, ...config }: TimelyConfig) {
    const withinMs = silence?.withinMs ?? Infinity
    super({ ...config, connectionTimeoutMillis: Math.min(connectWithinMs, withinMs) })
    this.#silence = silence
    this.#withinMs = withinMs
    silence?.join(this)
  }

  /** For the next statements; undefined restores the default. */
  answerWithin(ms: number | undefined): void {
    this.#withinMs = ms ?? this.#silence?.withinMs ?? Infinity
  }

  /** A statement was sent. */
  sent(): void {
    this.#unanswered += 1
    if (this.#unanswered === 1) this.#arm(this.#boundMs)
  }

  /** A statement has its reply, or has failed. */
  answered(): void {
    this.#unanswered -= 1
    this.#isSuspect = false
    this.#lastAnswerAt = performance.now()
    if (this.#unanswered > 0) this.#arm(this.#boundMs)
    else this.#disarm()
  }

  /** Another connection has been silent since then. An idle connection without a reply since is not reused. */
  suspect(since: number): void {
    if (this.#lastAnswerAt > since) return
    this.#isSuspect = true
    if (this.#unanswered > 0) this.#arm(this.#boundMs)
    else if (!this.isLent) this.#leave('another connection to the same server did not respond')
  }

  get #boundMs(): number {
    const { graceMs = Infinity } = this.#silence ?? {}
    return this.#isSuspect && this.#withinMs !== Infinity ? Math.min(this.#withinMs, graceMs) : this.#withinMs
  }

  #arm(ms: number): void {
    this.#bytesRead = this.#socket.bytesRead
    if (this.#timer !== undefined && this.#armedForMs === ms) return void this.#timer.refresh()
    this.#disarm()
    this.#armedForMs = ms
    if (ms !== Infinity) this.#timer = setTimeout(() => this.#onSilence(ms), ms).unref()
  }

  #disarm(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  // After a long pause of this process its timers fire before its sockets are read: the reply may have arrived.
  #onSilence(ms: number): void {
    const { bytesRead } = this.#socket
    setImmediate(() => {
      if (this.#unanswered === 0) return
      if (bytesRead !== this.#bytesRead || this.#socket.bytesRead !== bytesRead) return this.#arm(ms)
      this.#leave(`no response within ${ms / 1000} s`)
      this.#silence?.found(performance.now() - ms)
    })
  }

  #leave(why: string): void {
    this.#socket.destroy(new SilentConnection(why))
  }

  get #socket(): Socket {
    return this.connection.stream as Socket
  }

  // The end waits for the other side. A side that vanished without closing never ends, and TCP gives up after a quarter
  // of an hour.
  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | void {
    const socket = this.#socket
    socket.setTimeout(partWithinMs, () => socket.destroy())
    return callback === undefined ? super.end() : super.end(callback)
  }
}
