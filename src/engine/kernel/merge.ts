// Concurrent single calls become sets. One set of an operation is in flight; the calls that arrive meanwhile form the
// next. There is no timer, so an idle engine adds no latency, and a busy one commits hundreds of calls at once. Only a set
// that is full goes beside the one in flight, because waiting would not make it larger: the database works on one while
// the next is encoded. Where two sets could need one row, the second would find it locked: so a set that goes beside another
// ends before the first item whose row the other needs.
//
// One bad item never fails its neighbours: a set that the database refuses because of its data (SQLSTATE 22, 23) or
// because a row in it is locked (55P03) is halved until the item stands alone. A set whose reply was lost is sent again
// with the same ids, unless that would do more than was asked for. An item whose row another transaction has locked is sent
// again alone, beside the sets.
import { EngineError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { sqlState } from '../../sql/errors.ts'
import { engineClosed } from './closing.ts'
import type { Effects, Publish } from './effects.ts'
import { asEngineError, contended } from './failure.ts'
import type { Sql } from '../../sql/sql.ts'
import { untilSent, type Sending } from './resend.ts'

/** The item's row was locked by another; the item is sent again alone. */
export const rowLocked: unique symbol = Symbol('row locked')

export type Outcome<Answer> = Answer | EngineError | typeof rowLocked

/** The result of a committed set. */
export interface Sent<Answer> {
  /** In the order of the items. */
  readonly outcomes: readonly Outcome<Answer>[]
  readonly effects: Effects
}

export interface SetOperation<Item, Answer> {
  /**
   * `again` means that an earlier reply to the same items was lost. `isHalf` means that the database refused the set that
   * these items came in, so that they have waited for a lock already.
   */
  send(items: readonly Item[], again: boolean, isHalf: boolean): Promise<Sent<Answer>>
  /** One item whose row was locked, under a lock timeout that would be too long for a set. */
  sendAlone(item: Item, again: boolean, lockTimeoutMs: number): Promise<Sent<Answer>>
  /** Two items with the same key never share a set. */
  keyOf(item: Item): string
  /** A repeat would do more than the caller requested, so that the callers receive the error of a lost reply. */
  readonly onlyOnce?: boolean
  bytesOf?(item: Item): number
  /** For items with different keys that may need the same row: two of them are never in two sets at the same time. */
  rowOf?(item: Item): string
}

interface Bounds {
  readonly maxItems: number
  readonly maxBytes: number
  readonly maxInFlight: number
}

// Embedded, a set runs on the caller's own thread, so it must end soon, and a second would only stand behind it.
const bounds: Readonly<Record<Sql['kind'], Bounds>> = {
  postgres: { maxItems: limits.setItems, maxBytes: 4 * 1024 * 1024, maxInFlight: 2 },
  embedded: { maxItems: 100, maxBytes: 4 * 1024 * 1024, maxInFlight: 1 },
}

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly key: string
  readonly settle: (outcome: Answer | EngineError) => void
}

interface LockedItem<Item, Answer> {
  readonly entry: Waiting<Item, Answer>
  readonly sending: Sending
  readonly patientUntil: number
}

/** How long an item waits for whoever holds its row, before it answers that it is contended. */
const patienceMs = 2000

export class Merger<Item, Answer> {
  readonly #sql: Sql
  readonly #operation: SetOperation<Item, Answer>
  readonly #publish: Publish
  readonly #bounds: Bounds
  /** For the next sets, in the order in which they came, and of each key one. */
  readonly #waiting: Waiting<Item, Answer>[] = []
  readonly #waitingKeys = new Set<string>()
  #waitingBytes = 0
  readonly #rowsInFlight = new Set<string>()
  /** By key, those that come after the one that waits: a thousand calls for one execution hold up nobody else's. */
  readonly #behind = new Map<string, Waiting<Item, Answer>[]>()
  #inFlight = 0
  readonly #locked: LockedItem<Item, Answer>[] = []
  #isSendingAlone = false
  #scheduled = false
  #isClosed = false
  #onIdle: (() => void) | null = null

  /** `publish` is called after each commit, before the callers of its items continue. */
  constructor(sql: Sql, operation: SetOperation<Item, Answer>, publish: Publish) {
    this.#sql = sql
    this.#operation = operation
    this.#publish = publish
    this.#bounds = bounds[sql.kind]
  }

  /** Resolves with the item's answer, or throws the item's own error. */
  one(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.add(item, (outcome) => (EngineError.is(outcome) ? reject(outcome) : resolve(outcome)))
    })
  }

  /** Settles exactly once, later; the item's error is its answer. */
  add(item: Item, settle: (outcome: Answer | EngineError) => void): void {
    if (this.#isClosed) return queueMicrotask(() => settle(engineClosed()))
    this.#line({ item, key: this.#operation.keyOf(item), settle })
    // A thousand calls made in one go are not kept until the last of them was checked.
    if (this.#waiting.length === this.#bounds.maxItems) this.#sendNext()
    if (this.#scheduled) return
    this.#scheduled = true
    // A turn of the microtask queue, so that calls made in one go share the first set too.
    queueMicrotask(() => {
      this.#scheduled = false
      this.#sendNext()
    })
  }

  /** Takes no more; resolves when all that was taken is answered. */
  close(): Promise<void> {
    this.#isClosed = true
    return new Promise((resolve) => {
      this.#onIdle = resolve
      this.#tellIdle()
    })
  }

  #tellIdle(): void {
    const isIdle = this.#waiting.length === 0 && this.#inFlight === 0 && !this.#isSendingAlone
    if (isIdle) this.#onIdle?.()
  }

  #sendNext(): void {
    while (this.#waiting.length > 0 && this.#mayGo()) {
      this.#inFlight++
      const sending = { again: false, onlyOnce: this.#operation.onlyOnce === true }
      const set = this.#takeSet()
      const rows = set.flatMap(({ item }) => this.#operation.rowOf?.(item) ?? [])
      for (const row of rows) this.#rowsInFlight.add(row)
      void this.#sendSet(set, sending, false).finally(() => {
        this.#inFlight--
        for (const row of rows) this.#rowsInFlight.delete(row)
        this.#sendNext()
        this.#tellIdle()
      })
    }
  }

  #mayGo(): boolean {
    const { maxItems, maxBytes, maxInFlight } = this.#bounds
    if (this.#inFlight === 0) return true
    if (this.#inFlight === maxInFlight) return false
    if (this.#waiting.length < maxItems && this.#waitingBytes < maxBytes) return false
    return this.#operation.rowOf === undefined || this.#nextSet().isFull
  }

  #line(entry: Waiting<Item, Answer>): void {
    const { key } = entry
    if (this.#waitingKeys.has(key)) {
      const behind = this.#behind.get(key)
      if (behind === undefined) this.#behind.set(key, [entry])
      else behind.push(entry)
      return
    }
    this.#waitingKeys.add(key)
    this.#waiting.push(entry)
    this.#waitingBytes += this.#bytesOf(entry.item)
  }

  /** How many of those that wait, from the first on; full when no more would fit. */
  #nextSet(): { readonly count: number; readonly bytes: number; readonly isFull: boolean } {
    const { maxItems, maxBytes } = this.#bounds
    let [count, bytes] = [0, 0]
    for (const { item } of this.#waiting) {
      const size = this.#bytesOf(item)
      if (count === maxItems || (count > 0 && bytes + size > maxBytes)) return { count, bytes, isFull: true }
      if (this.#needsRowInFlight(item)) return { count, bytes, isFull: false }
      count += 1
      bytes += size
    }
    return { count, bytes, isFull: count === maxItems || bytes >= maxBytes }
  }

  #needsRowInFlight(item: Item): boolean {
    const row = this.#operation.rowOf?.(item)
    return row !== undefined && this.#rowsInFlight.has(row)
  }

  #takeSet(): Waiting<Item, Answer>[] {
    const { count, bytes } = this.#nextSet()
    const set = this.#waiting.splice(0, count)
    this.#waitingBytes -= bytes
    for (const { key } of set) this.#lineNext(key)
    return set
  }

  #lineNext(key: string): void {
    this.#waitingKeys.delete(key)
    const behind = this.#behind.get(key)
    const next = behind?.shift()
    if (behind?.length === 0) this.#behind.delete(key)
    if (next !== undefined) this.#line(next)
  }

  #bytesOf(item: Item): number {
    return this.#operation.bytesOf?.(item) ?? 0
  }

  async #sendSet(set: readonly Waiting<Item, Answer>[], sending: Sending, isHalf: boolean): Promise<void> {
    let sent: Sent<Answer>
    const items = set.map((entry) => entry.item)
    try {
      sent = await untilSent(this.#sql, sending, (again) => this.#operation.send(items, again, isHalf))
    } catch (error) {
      if (set.length === 1 && sqlState(error) === '55P03') return this.#answer(set[0]!, rowLocked, sending)
      if (!isOneItemsFault(error) || set.length === 1) return refuse(set, error)
      const middle = Math.ceil(set.length / 2)
      await this.#sendSet(set.slice(0, middle), sending, true)
      await this.#sendSet(set.slice(middle), sending, true)
      return
    }
    this.#publish(sent.effects)
    set.forEach((entry, index) => this.#answer(entry, sent.outcomes[index]!, sending))
  }

  #answer(entry: Waiting<Item, Answer>, outcome: Outcome<Answer>, sending: Sending): void {
    if (outcome !== rowLocked) return entry.settle(outcome)
    this.#locked.push({ entry, sending: { ...sending }, patientUntil: performance.now() + patienceMs })
    if (!this.#isSendingAlone) void this.#sendHeld()
  }

  // One after the other, on one connection: rows that somebody holds for long must not hold up the rest of the process.
  // Each has the same patience from the moment its row was found locked; those at the end of a long line look once more at least.
  async #sendHeld(): Promise<void> {
    this.#isSendingAlone = true
    for (let next = this.#locked.shift(); next !== undefined; next = this.#locked.shift()) {
      const { entry, sending, patientUntil } = next
      const patience = Math.max(1, Math.ceil(patientUntil - performance.now()))
      try {
        const { outcomes, effects } = await untilSent(this.#sql, sending, (again) =>
          this.#operation.sendAlone(entry.item, again, patience),
        )
        this.#publish(effects)
        const [outcome] = outcomes
        entry.settle(outcome === rowLocked ? contended() : outcome!)
      } catch (error) {
        refuse([entry], error)
      }
    }
    this.#isSendingAlone = false
    this.#tellIdle()
  }
}

function isOneItemsFault(error: unknown): boolean {
  const state = sqlState(error)
  return state !== undefined && (state.startsWith('22') || state.startsWith('23') || state === '55P03')
}

function refuse<Item, Answer>(set: readonly Waiting<Item, Answer>[], error: unknown): void {
  const refusal = asEngineError(error)
  for (const entry of set) entry.settle(refusal)
}
