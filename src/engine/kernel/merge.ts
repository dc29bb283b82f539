// Merges concurrent single calls of an operation into sets (see `model/batcher.ts`): one set is in flight, and the calls that arrive
// meanwhile form the next. Where two sets could need the same row, a set that is sent beside another ends before the first item whose
// row the other needs; it would find that row locked.
//
// One bad item never fails its neighbours: a set that the database refuses because of its data (SQLSTATE 22, 23) or because a row in
// it is locked (55P03) is halved until the item is alone. A set whose reply was lost is sent again with the same ids, unless a repeat
// would do more than the caller requested. An item whose row another transaction has locked is sent again alone, beside the sets.
import { Batcher, type BatchBounds, type Batching } from '../../model/batcher.ts'
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

// Embedded, a set runs on the caller's own thread, so it must be short, and a second one would only wait behind it.
const bounds: Readonly<Record<Sql['kind'], BatchBounds>> = {
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

/** How long an item waits for the lock on its row. After that its answer is `contended`. */
const patienceMs = 2000

export class Merger<Item, Answer> {
  readonly #sql: Sql
  readonly #operation: SetOperation<Item, Answer>
  readonly #publish: Publish
  readonly #batcher: Batcher<Waiting<Item, Answer>>
  readonly #locked: LockedItem<Item, Answer>[] = []
  #isSendingAlone = false
  #isClosed = false
  #onIdle: (() => void) | null = null

  /** `publish` is called after each commit, before the callers of its items continue. */
  constructor(sql: Sql, operation: SetOperation<Item, Answer>, publish: Publish) {
    this.#sql = sql
    this.#operation = operation
    this.#publish = publish
    this.#batcher = new Batcher(this.#batching(), bounds[sql.kind])
  }

  #batching(): Batching<Waiting<Item, Answer>> {
    const operation = this.#operation
    return {
      keyOf: ({ key }) => key,
      bytesOf: ({ item }) => operation.bytesOf?.(item) ?? 0,
      ...(operation.rowOf && { rowOf: ({ item }) => operation.rowOf?.(item) }),
      onIdle: () => this.#notifyIdle(),
      send: (set) => this.#sendSet(set, { again: false, onlyOnce: operation.onlyOnce === true }, false),
    }
  }

  /** Resolves with the item's answer, or throws the item's own error. */
  one(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.add(item, (outcome) => (EngineError.is(outcome) ? reject(outcome) : resolve(outcome)))
    })
  }

  /** Settles exactly once, later; the error of an item is its answer. */
  add(item: Item, settle: (outcome: Answer | EngineError) => void): void {
    if (this.#isClosed) return queueMicrotask(() => settle(engineClosed()))
    this.#batcher.add({ item, key: this.#operation.keyOf(item), settle })
  }

  /** Accepts no more items; resolves when all accepted items have settled. */
  close(): Promise<void> {
    this.#isClosed = true
    return new Promise((resolve) => {
      this.#onIdle = resolve
      this.#notifyIdle()
    })
  }

  #notifyIdle(): void {
    if (this.#batcher.isIdle && !this.#isSendingAlone) this.#onIdle?.()
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
    if (!this.#isSendingAlone) void this.#sendLocked()
  }

  // One after the other, on one connection: rows that are locked for long must not delay the rest of the process. Each waits for the
  // same time from the moment its row was found locked; an item at the end of a long line is sent once more at least.
  async #sendLocked(): Promise<void> {
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
    this.#notifyIdle()
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
