// One run over some kinds of what is owed: a set of each in a turn, until nothing is left. What is owed meanwhile is its next
// turn's. What was held is tried again after a short pause, and then left to the duties. A set that fails is swept as
// they would: what is bad is set aside, and the rest goes on.
import type { Sql } from '../../sql/sql.ts'
import { Bell } from '../kernel/bell.ts'
import type { Duty, Run } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import type { Dispatched } from '../dispatch/dispatched.ts'
import { OwedHead } from '../dispatch/head.ts'

/** One kind of what is owed. */
export interface DispatchPart {
  /** Of `pendingDispatch`. */
  readonly bit: number
  /** `fromMs`: nothing that is owed since before. */
  readonly takeSet: (sql: Sql, batch: number, fromMs: number) => Promise<Dispatched>
  readonly largestSet: number
  /** Who does it where no process has. */
  readonly duty: Duty
}

// Embedded, a set runs on the caller's own thread, so it must end soon.
const largestEmbeddedSet = 100

// Doubled each time: two seconds in all, by when a duty comes by.
const shortestPauseMs = 2
const mostPauses = 10

export class DispatchLoop {
  readonly #sql: Sql
  readonly #parts: readonly (DispatchPart & { readonly head: OwedHead })[]
  readonly #bits: number
  /** Called after each set. */
  readonly #onSet: (taken: Dispatched) => void
  readonly #bell = new Bell()
  readonly #stopping = new AbortController()
  #pending = 0
  #running: Promise<void> | null = null

  constructor(sql: Sql, parts: readonly DispatchPart[], onSet: (taken: Dispatched) => void) {
    this.#sql = sql
    this.#parts = parts.map((part) => ({ ...part, head: new OwedHead() }))
    this.#bits = parts.reduce((bits, { bit }) => bits | bit, 0)
    this.#onSet = onSet
  }

  /** What it is while it runs; null when nothing is under way. */
  get running(): Promise<void> | null {
    return this.#running
  }

  /** Bits of `pendingDispatch`; the loop ignores those of other loops. */
  start(pending: number): void {
    const own = pending & this.#bits
    if (own === 0 || this.#stopping.signal.aborted) return
    this.#pending |= own
    this.#bell.ring()
    this.#running ??= this.#run()
  }

  /** Begins no more statements. */
  stop(): void {
    this.#stopping.abort()
  }

  async #run(): Promise<void> {
    let pauses = 0
    while (this.#pending !== 0 && !this.#stopping.signal.aborted) {
      const heldBits = await this.#turn(this.#takePending())
      if (heldBits === 0) pauses = 0
      if (heldBits === 0 || pauses === mostPauses) continue
      if (this.#pending === 0) await this.#bell.wait(this.#stopping.signal, shortestPauseMs * 2 ** pauses)
      // Cut short by something else that is owed, it was none.
      if (this.#pending === 0) pauses += 1
      this.#pending |= heldBits
    }
    this.#pending = 0
    this.#running = null
  }

  #takePending(): number {
    const pending = this.#pending
    this.#pending = 0
    return pending
  }

  /** Answers the kinds of which something was held. */
  async #turn(pending: number): Promise<number> {
    let heldBits = 0
    for (const { bit, takeSet, largestSet, duty, head } of this.#parts) {
      if ((pending & bit) === 0) continue
      const batch = this.#sql.kind === 'embedded' ? largestEmbeddedSet : largestSet
      const fromMs = head.begin(performance.now())
      const taken = await takeSet(this.#sql, batch, fromMs).catch(() => this.#sweep(duty, batch))
      head.met(taken.oldestMs, performance.now())
      this.#onSet(taken)
      if (taken.seen >= batch && taken.done > 0) this.#pending |= bit
      // One that has done a part of something large says itself that there is more.
      else if (taken.seen > taken.done && (this.#pending & bit) === 0) heldBits |= bit
    }
    return heldBits
  }

  /** One set, halved as often as it takes. Where that fails too, be it that the connection is gone, nothing was done. */
  async #sweep(duty: Duty, batch: number): Promise<Dispatched> {
    const nothing: Run = { processed: 0, errors: 0, isFull: false, effects: noEffects }
    const { processed: done, isFull, effects } = await duty.runOnce(this.#sql, { batch }).catch(() => nothing)
    const seen = isFull ? batch : done
    return { seen, done, oldestMs: null, effects }
  }
}
