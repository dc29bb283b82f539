// A loop over some kinds of pending dispatch: in each turn it processes one set of each kind, until no row is left. Rows that are
// written meanwhile belong to the next turn. Rows that another transaction has locked are retried after short pauses, and then
// left to the duties. If a set fails, the loop runs the duty in its place: it quarantines the bad row and processes the others.
import type { Sql } from '../../sql/sql.ts'
import { Bell } from '../kernel/bell.ts'
import type { Duty, Run } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import type { Dispatched } from '../dispatch/dispatched.ts'
import { DispatchHead } from '../dispatch/head.ts'

/** One kind of pending dispatch. */
export interface DispatchPart {
  /** Of `pendingDispatch`. */
  readonly bit: number
  /** `fromMs`: only rows that were created at this time or later. */
  readonly takeSet: (sql: Sql, batch: number, fromMs: number) => Promise<Dispatched>
  readonly largestSet: number
  /** Processes the rows that no process has dispatched. */
  readonly duty: Duty
}

// Embedded, a set runs on the caller's own thread, so it must end soon.
const largestEmbeddedSet = 100

// Doubled each time: two seconds in all, after which a duty runs.
const shortestPauseMs = 2
const mostPauses = 10

export class DispatchLoop {
  readonly #sql: Sql
  readonly #parts: readonly (DispatchPart & { readonly head: DispatchHead })[]
  readonly #bits: number
  /** Called after each set. */
  readonly #onSet: (taken: Dispatched) => void
  readonly #bell = new Bell()
  readonly #stopping = new AbortController()
  #pending = 0
  #running: Promise<void> | null = null

  constructor(sql: Sql, parts: readonly DispatchPart[], onSet: (taken: Dispatched) => void) {
    this.#sql = sql
    this.#parts = parts.map((part) => ({ ...part, head: new DispatchHead() }))
    this.#bits = parts.reduce((bits, { bit }) => bits | bit, 0)
    this.#onSet = onSet
  }

  /** Resolves when the current run is over; null when nothing is under way. */
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

  /** Starts no more statements. */
  stop(): void {
    this.#stopping.abort()
  }

  async #run(): Promise<void> {
    let pauses = 0
    while (this.#pending !== 0 && !this.#stopping.signal.aborted) {
      const lockedBits = await this.#turn(this.#takePending())
      if (lockedBits === 0) pauses = 0
      if (lockedBits === 0 || pauses === mostPauses) continue
      if (this.#pending === 0) await this.#bell.wait(this.#stopping.signal, shortestPauseMs * 2 ** pauses)
      // A pause that new pending dispatch has cut short does not count.
      if (this.#pending === 0) pauses += 1
      this.#pending |= lockedBits
    }
    this.#pending = 0
    this.#running = null
  }

  #takePending(): number {
    const pending = this.#pending
    this.#pending = 0
    return pending
  }

  /** Returns the kinds with rows that another transaction had locked. */
  async #turn(pending: number): Promise<number> {
    let lockedBits = 0
    for (const { bit, takeSet, largestSet, duty, head } of this.#parts) {
      if ((pending & bit) === 0) continue
      const batch = this.#sql.kind === 'embedded' ? largestEmbeddedSet : largestSet
      const fromMs = head.begin(performance.now())
      const taken = await takeSet(this.#sql, batch, fromMs).catch(() => this.#runDuty(duty, batch))
      head.advance(taken.oldestMs, performance.now())
      this.#onSet(taken)
      if (taken.seen >= batch && taken.done > 0) this.#pending |= bit
      // A set that processed a part of something large reports itself that more is pending.
      else if (taken.seen > taken.done && (this.#pending & bit) === 0) lockedBits |= bit
    }
    return lockedBits
  }

  /** One set, halved as often as needed. If that fails too, for example without a connection, nothing was processed. */
  async #runDuty(duty: Duty, batch: number): Promise<Dispatched> {
    const nothing: Run = { processed: 0, errors: 0, isFull: false, effects: noEffects }
    const { processed: done, isFull, effects } = await duty.runOnce(this.#sql, { batch }).catch(() => nothing)
    const seen = isFull ? batch : done
    return { seen, done, oldestMs: null, effects }
  }
}
