// Hints: somewhere, something became ready. A hint saves the wait for the next poll and carries no promise; whoever waits
// polls as well, and whoever is woken may find nothing. A second kind of hint says that something was delayed, for how
// long: whoever promotes what is due need not wait for its next look.
//
// Hints of one process reach its own waiters directly. For the others they are sent by NOTIFY, in a transaction of its own
// after the commit that they tell of (inside it, NOTIFY takes a lock that halves the throughput, measured), one at a time:
// what rings meanwhile is told by the next.
import type { Sql } from '../sql/sql.ts'
import { statement } from '../sql/statement.ts'
import { Bell } from './bell.ts'

// A hint that a crash loses was only a hint: its commit waits for no disk.
const notify = statement({
  name: 'hint.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `
select set_config('synchronous_commit', 'off', true) is not null and pg_notify($1, $2) is not null as sent`,
})

// More queues than this at once, and the hint names none: everyone looks everywhere.
const mostNamed = 500

// A longer delay is met in time without a hint: supervisors look more often than that.
const longestDelayMs = 1000
const delayPrefix = 'delay:'

/**
 * One who looks, waits, and looks again. It hears while it looks too, and then does not wait: what came after the look had
 * begun may not be in what it saw.
 */
class Watch {
  readonly #bell = new Bell()
  readonly #concerns: (queueId: number) => boolean
  readonly end: () => void
  #hasHeard = false

  constructor(concerns: (queueId: number) => boolean, end: () => void) {
    this.#concerns = concerns
    this.end = end
  }

  hear(queueId: number | null): void {
    if (queueId !== null && !this.#concerns(queueId)) return
    this.#hasHeard = true
    this.#bell.ring()
  }

  /** Resolves at the next hint since the last one that it told, at the latest after `timeoutMs` or when `signal` aborts. */
  async next(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (!this.#hasHeard) await this.#bell.wait(signal, timeoutMs)
    this.#hasHeard = false
  }
}

// Between two writes that carry their own hint; the other hints are sent one at a time.
const quietMs = 5

export interface CarriedHint {
  readonly channel: string
  readonly payload: string
}

export class Hints {
  readonly #sql: Sql
  readonly #watches = new Set<Watch>()
  readonly #onQueue: (queueId: number | null) => void
  readonly #onDelay = new Set<(inMs: number) => void>()
  #ringing = new Set<number>()
  #delayMs: number | null = null
  /** Until then nothing later needs a hint: whoever comes then finds it. */
  #toldUntil = 0
  #sending = false
  #quietUntil = 0
  #isListening = false

  /** `onQueue` hears the queues that a hint names, and null when anything may have changed. */
  constructor(sql: Sql, onQueue: (queueId: number | null) => void) {
    this.#sql = sql
    this.#onQueue = onQueue
  }

  /**
   * The hint that a write about to be sent may carry in its own transaction: one round trip less. Only where nothing was
   * told for a while, because under load it would hold up the commits of others.
   */
  carriedBy(queueIds: readonly number[]): CarriedHint | null {
    if (this.#sql.kind === 'embedded' || this.#sending || performance.now() < this.#quietUntil) return null
    const named = new Set(queueIds)
    return named.size > mostNamed ? null : { channel: this.#channel, payload: [...named].join() }
  }

  /** Something was put into these queues, and is committed. `isTold`: it carried its hint. */
  ring(queueIds: Iterable<number>, isTold = false): void {
    this.#quietUntil = performance.now() + quietMs
    for (const id of queueIds) {
      if (!isTold) this.#ringing.add(id)
      this.#tellQueue(id)
    }
    if (this.#ringing.size === 0) return
    if (this.#sql.kind === 'embedded') this.#ringing.clear()
    else if (!this.#sending) void this.#send()
  }

  /** Something was put aside for so long, and is committed. */
  delayed(inMs: number): void {
    const now = performance.now()
    if (inMs > longestDelayMs || (this.#toldUntil > now && this.#toldUntil <= now + inMs)) return
    this.#toldUntil = now + inMs
    this.#tellDelay(inMs)
    if (this.#sql.kind === 'embedded') return
    this.#delayMs = inMs
    if (!this.#sending) void this.#send()
  }

  /** Hears of delays, from this process and others, until the answer is called. */
  onDelay(hear: (inMs: number) => void): () => void {
    this.#listen()
    this.#onDelay.add(hear)
    return () => void this.#onDelay.delete(hear)
  }

  /** Hears, from now on, of the queues that concern it; until it is ended. */
  watch(concerns: (queueId: number) => boolean): Watch {
    this.#listen()
    const watch = new Watch(concerns, () => this.#watches.delete(watch))
    this.#watches.add(watch)
    return watch
  }

  async #send(): Promise<void> {
    this.#sending = true
    while (this.#ringing.size > 0 || this.#delayMs !== null) {
      const payload = this.#payload()
      this.#ringing = new Set()
      this.#delayMs = null
      // A hint that is not sent costs a poll's delay.
      await this.#sql.query(notify, { channel: this.#channel, payload }).catch(() => [])
    }
    this.#sending = false
  }

  // Queues, of which none stands for all, and a delay, joined by commas.
  #payload(): string {
    const queues = this.#ringing.size > mostNamed ? [''] : [...this.#ringing]
    return [...queues, ...(this.#delayMs === null ? [] : [`${delayPrefix}${this.#delayMs}`])].join()
  }

  // Until the database's handle is closed; it also calls once after each reconnect, because hints were lost meanwhile.
  #listen(): void {
    if (this.#sql.kind === 'embedded' || this.#isListening) return
    this.#isListening = true
    const hear = (payload: string | null): void => {
      const parts = (payload ?? '').split(',')
      const queues = parts.filter((part) => !part.startsWith(delayPrefix))
      for (const part of parts)
        if (part.startsWith(delayPrefix)) this.#tellDelay(Number(part.slice(delayPrefix.length)))
      for (const id of queues) this.#tellQueue(id === '' ? null : Number(id))
    }
    this.#sql.listen(this.#channel, hear).catch(() => {
      this.#isListening = false
    })
  }

  #tellQueue(queueId: number | null): void {
    this.#onQueue(queueId)
    for (const watch of this.#watches) watch.hear(queueId)
  }

  #tellDelay(inMs: number): void {
    for (const hear of this.#onDelay) hear(inMs)
  }

  get #channel(): string {
    return `flowfabric ${this.#sql.schema}`.slice(0, 60)
  }
}
