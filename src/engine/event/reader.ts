// The one reader of the log in a process, for all its subscribers. It polls at the frontier and keeps the latest
// events; subscribers take them from here, or from the table when they are further behind, each at its own pace. So a
// slow subscriber costs a read, never memory.
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineError } from '../../model/errors.ts'
import type { Sql } from '../../sql/sql.ts'
import { asEngineError } from '../kernel/failure.ts'
import { Bell } from '../kernel/bell.ts'
import { Frontier, type ReadRow, type Tail } from './frontier.ts'
import { isKnownKind } from './log-event.ts'
import { Stall, type StallOptions } from './stall.ts'

// The polls: soon after an event, then at growing intervals; often while an id is undecided, which takes the time of a
// commit.
const afterEventsMs = 20
const longestIdleMs = 1000
const openIdMs = 4
const longestOpenIdMs = 100
// Between two polls that commits of this process trigger: a busy process would read once for each of its sets.
const betweenWakesMs = 2
const firstRetryMs = 10
const longestRetryMs = 1000
const mostRecent = 4096
const pageSize = 512

export class EventReader {
  readonly #sql: Sql
  readonly #options: StallOptions
  readonly #frontier: Frontier
  readonly #stall: Stall
  readonly #end = new AbortController()
  readonly #wake = new Bell()
  readonly #advanced = new Bell()
  readonly #unknown = new Set<string>()
  #recent: ReadRow[] = []
  /** From these ids on, `#recent` has all decided events, with their tags. */
  #recentFrom: number
  #taggedFrom: number
  #tagsWanted = false
  #isWoken = false
  #failure: EngineError | null = null

  private constructor(sql: Sql, options: StallOptions, frontier: Frontier) {
    this.#sql = sql
    this.#options = options
    this.#frontier = frontier
    this.#stall = new Stall(options)
    this.#recentFrom = frontier.next
    this.#taggedFrom = frontier.next
  }

  static async open(sql: Sql, options: StallOptions): Promise<EventReader> {
    const reader = new EventReader(sql, options, await Frontier.open(sql))
    void reader.#run()
    return reader
  }

  close(): void {
    this.#end.abort()
  }

  /** Polls now: an event was written. */
  wake(): void {
    this.#isWoken = true
    this.#wake.ring()
  }

  /** How long it has waited for an id that it cannot decide. */
  get stalledMs(): number {
    return this.#stall.ms
  }

  get hasFailed(): boolean {
    return this.#failure !== null
  }

  /** The start of a new subscription. */
  tail(): Promise<Tail> {
    return this.#frontier.tail()
  }

  /** The end of the readable range from a position on; null when it is empty. */
  readableTo(position: number): number | null {
    if (this.#failure !== null) throw this.#failure
    const { next, decidedFrom } = this.#frontier
    return position >= decidedFrom && position < next ? next : null
  }

  /** Resolves when more may be readable, or the signal aborts. */
  more(signal: AbortSignal): Promise<void> {
    return this.#advanced.wait(signal)
  }

  /** The decided events from a position on, as far as they are kept; null when they have to be read from the table. */
  recent(position: number, withTags: boolean): readonly ReadRow[] | null {
    if (withTags) this.#tagsWanted = true
    if (position < (withTags ? Math.max(this.#taggedFrom, this.#recentFrom) : this.#recentFrom)) return null
    const start = this.#firstFrom(position)
    return this.#recent.slice(start, start + pageSize)
  }

  // Binary search: each subscriber calls it after each event, mostly for the last of thousands.
  #firstFrom(position: number): number {
    let [low, high] = [0, this.#recent.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#recent[middle]!.event_id < position) low = middle + 1
      else high = middle
    }
    return low
  }

  /** An event of a kind that a later version writes is skipped, and logged once. */
  knows(kind: string): boolean {
    if (isKnownKind(kind)) return true
    if (!this.#unknown.has(kind)) {
      this.#unknown.add(kind)
      this.#options.logger.warn(`skipping events of the unknown kind ${kind}; upgrade flowfabric to read them`)
    }
    return false
  }

  /** Repeats while the database is unreachable. */
  async retrying<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
      try {
        return await work()
      } catch (error) {
        const failure = asEngineError(error)
        if (!failure.retryable || signal.aborted) throw failure
        await this.#wake.wait(signal, waitMs)
      }
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#end
    let idleMs = afterEventsMs
    let openMs = openIdMs
    try {
      while (!signal.aborted) {
        const { isBlocked, isFull, count } = await this.retrying(signal, () => this.#read())
        idleMs = count > 0 ? afterEventsMs : Math.min(idleMs * 2, longestIdleMs)
        openMs = count > 0 ? openIdMs : Math.min(openMs * 2, longestOpenIdMs)
        const isOpen = isBlocked || this.#frontier.decidedFrom > 0
        if (!isFull) await this.#pause(isOpen ? openMs : idleMs)
      }
    } catch (error) {
      this.#failure = asEngineError(error)
      this.#advanced.ring()
    }
  }

  // A commit during the read may be missing from the result.
  async #pause(longestMs: number): Promise<void> {
    const { signal } = this.#end
    if (this.#isWoken) await sleep(betweenWakesMs, undefined, { signal }).catch(() => {})
    else await this.#wake.wait(signal, longestMs)
    this.#isWoken = false
  }

  async #read(): Promise<{ isBlocked: boolean; isFull: boolean; count: number }> {
    const { next: before, decidedFrom } = this.#frontier
    const withTags = this.#tagsWanted
    const { rows, isBlocked, isFull } = await this.#frontier.read(withTags)
    const { next } = this.#frontier
    this.#keep(rows)
    if (!withTags) this.#taggedFrom = next
    if (next !== before || this.#frontier.decidedFrom !== decidedFrom) this.#advanced.ring()
    if (isBlocked) await this.#stall.waitingFor(this.#sql, next)
    else this.#stall.goesOn()
    return { isBlocked, isFull, count: rows.length }
  }

  #keep(rows: readonly ReadRow[]): void {
    this.#recent.push(...rows)
    if (this.#recent.length <= mostRecent) return
    this.#recent = this.#recent.slice(-mostRecent / 2)
    this.#recentFrom = this.#recent[0]!.event_id
  }
}
