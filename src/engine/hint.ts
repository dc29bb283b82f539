// Hints: somewhere, something became ready. A hint saves the wait for the next poll and carries no promise; whoever waits
// polls as well, and whoever is woken may find nothing.
//
// Hints of one process reach its own waiters directly. For the others they are sent by NOTIFY, in a transaction of its own
// after the commit that they tell of (inside it, NOTIFY takes a lock that halves the throughput, measured), one at a time:
// what rings meanwhile is told by the next.
import type { Sql } from '../sql/sql.ts'
import { statement } from '../sql/statement.ts'
import { Bell } from './bell.ts'

const notify = statement({
  name: 'hint.notify',
  params: { channel: 'text', payload: 'text' },
  row: { sent: 'bool' },
  text: `select pg_notify($1, $2) is not null as sent`,
})

// More queues than this at once, and the hint names none: everyone looks everywhere.
const mostNamed = 500

export class Hints {
  readonly #sql: Sql
  readonly #bell = new Bell()
  readonly #onQueue: (queueId: number | null) => void
  #ringing = new Set<number>()
  #sending = false
  #isListening = false

  /** `onQueue` hears the queues that a hint names, and null when anything may have changed. */
  constructor(sql: Sql, onQueue: (queueId: number | null) => void) {
    this.#sql = sql
    this.#onQueue = onQueue
  }

  /** Something was put into these queues, and is committed. */
  ring(queueIds: Iterable<number>): void {
    for (const id of queueIds) {
      this.#ringing.add(id)
      this.#onQueue(id)
    }
    if (this.#ringing.size === 0) return
    this.#bell.ring()
    if (this.#sql.kind === 'embedded') this.#ringing.clear()
    else if (!this.#sending) void this.#send()
  }

  /** Resolves at the next hint, at the latest after `timeoutMs` or when `signal` aborts. */
  wait(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    this.#listen()
    return this.#bell.wait(signal, timeoutMs)
  }

  async #send(): Promise<void> {
    this.#sending = true
    while (this.#ringing.size > 0) {
      const payload = this.#ringing.size > mostNamed ? '' : [...this.#ringing].join()
      this.#ringing = new Set()
      // A hint that is not sent costs a poll's delay.
      await this.#sql.query(notify, { channel: this.#channel, payload }).catch(() => [])
    }
    this.#sending = false
  }

  // Until the database's handle is closed; it also calls once after each reconnect, because hints were lost meanwhile.
  #listen(): void {
    if (this.#sql.kind === 'embedded' || this.#isListening) return
    this.#isListening = true
    const hear = (payload: string | null): void => {
      if (payload === null || payload === '') this.#onQueue(null)
      else for (const id of payload.split(',')) this.#onQueue(Number(id))
      this.#bell.ring()
    }
    this.#sql.listen(this.#channel, hear).catch(() => {
      this.#isListening = false
    })
  }

  get #channel(): string {
    return `flowfabric ${this.#sql.schema}`.slice(0, 60)
  }
}
