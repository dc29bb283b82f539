// Logs an outage as two lines for the whole process, however many workers, duties and calls notice it: the database, or
// the server in front of it, is unreachable; and it is reachable again.
import { setTimeout } from 'node:timers'
import type { ConnectionWatcher } from '../client/client.ts'
import type { Logger } from '../model/logger.ts'
import { durationText } from '../worker/report.ts'

// Poolers and load balancers close idle connections: if a call succeeds on another connection within this time, there
// is no outage.
const patienceMs = 500

export class Outage implements ConnectionWatcher {
  readonly #logger: Logger
  #what = 'database'
  /** The time of the first call that failed; null: calls succeed. */
  #since: number | null = null
  #backAt = -Infinity
  #isLogged = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /**
   * A call that was sent at `sentAt` lost its connection. A call that was sent before the end of the last outage
   * belongs to that outage.
   */
  failed(what: 'database' | 'server', reason: string, sentAt: number): void {
    if (this.#isClosed || this.#since !== null || sentAt < this.#backAt) return
    this.#since = performance.now()
    this.#what = what
    const report = (): void => {
      this.#isLogged = true
      this.#logger.warn(`${what} away: ${briefly(reason)}`, { away: what, reason })
    }
    this.#timer = setTimeout(report, patienceMs).unref()
  }

  /** A call that was sent at `sentAt` has its reply. */
  answered(sentAt: number): void {
    if (this.#since === null || sentAt < this.#since) return
    const awayMs = Math.round(performance.now() - this.#since)
    clearTimeout(this.#timer)
    this.#since = null
    this.#backAt = performance.now()
    if (this.#isLogged)
      this.#logger.warn(`${this.#what} back after ${durationText(awayMs)}`, { back: this.#what, awayMs })
    this.#isLogged = false
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }
}

/** Without the advice that follows it. */
function briefly(reason: string): string {
  const [first = reason] = reason.split(/[.;]\s/)
  return first.replace(/\.$/, '')
}
