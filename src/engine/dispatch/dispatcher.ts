// The dispatcher: what an ending owes others is done behind its commit, by the process that wrote it, while nobody waits for
// it. A write says in its answer what is owed, so that one which owes nothing costs nothing. One run is under way; what is
// owed meanwhile is its next turn's. What was held is tried again after a short pause, and then left to the reconcilers, as
// is everything when the process dies. A set that fails is swept as they would: what is bad is set aside, and the rest goes on.
import type { Sql } from '../../sql/sql.ts'
import { Bell } from '../bell.ts'
import { cancelBacklog } from '../reconcilers/cancel-backlog.ts'
import { dispatch } from '../reconcilers/dispatch.ts'
import type { Duty, Run } from '../reconcilers/duty.ts'
import { leaveChildren } from './children.ts'
import type { Dispatched } from './dispatched.ts'
import { owed } from './owed.ts'
import { mostJudged, tellParents } from './parent.ts'
import { endBacklogged, resolveFlows, resolveMoreOfFlows } from './sets.ts'

export interface DispatcherOptions {
  readonly onReady: (queueIds: readonly number[]) => void
  readonly onDelay: (inMs: number) => void
  readonly onFlowsEnded: (flowIds: readonly string[]) => void
  readonly onCalledOff: (executionIds: readonly string[]) => void
}

interface Part {
  readonly bit: number
  readonly takeSet: (sql: Sql, batch: number) => Promise<Dispatched>
  readonly largestSet: number
  /** Who does it where no process has. */
  readonly duty: Duty
}

const parts: readonly Part[] = [
  { bit: owed.flow, takeSet: resolveFlows, largestSet: 500, duty: dispatch },
  { bit: owed.moreOfFlow, takeSet: resolveMoreOfFlows, largestSet: 500, duty: dispatch },
  { bit: owed.parent, takeSet: tellParents, largestSet: mostJudged, duty: dispatch },
  { bit: owed.children, takeSet: leaveChildren, largestSet: 500, duty: dispatch },
  { bit: owed.cancels, takeSet: endBacklogged, largestSet: 500, duty: cancelBacklog },
]

// Embedded, a set runs on the caller's own thread, so it must end soon.
const largestEmbeddedSet = 100

// Doubled each time: two seconds in all, by when a reconciler comes by.
const shortestPauseMs = 2
const mostPauses = 10

export class Dispatcher {
  readonly #sql: Sql
  readonly #options: DispatcherOptions
  readonly #bell = new Bell()
  readonly #stopping = new AbortController()
  #owed = 0
  #running: Promise<void> | null = null

  constructor(sql: Sql, options: DispatcherOptions) {
    this.#sql = sql
    this.#options = options
  }

  /** Bits of `owed`, for rows that are committed. */
  kick(owes: number): void {
    if (owes === 0 || this.#stopping.signal.aborted) return
    this.#owed |= owes
    this.#bell.ring()
    this.#running ??= this.#run()
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  /** Begins no more statements; resolves when the one under way is done. */
  async close(): Promise<void> {
    this.#stopping.abort()
    await this.idle()
  }

  async #run(): Promise<void> {
    let pauses = 0
    while (this.#owed !== 0 && !this.#stopping.signal.aborted) {
      const heldBits = await this.#turn(this.#takeOwed())
      if (heldBits === 0) pauses = 0
      if (heldBits === 0 || pauses === mostPauses) continue
      if (this.#owed === 0) await this.#bell.wait(this.#stopping.signal, shortestPauseMs * 2 ** pauses)
      // Cut short by something else that is owed, it was none.
      if (this.#owed === 0) pauses += 1
      this.#owed |= heldBits
    }
    this.#owed = 0
    this.#running = null
  }

  #takeOwed(): number {
    const owes = this.#owed
    this.#owed = 0
    return owes
  }

  /** One set of each kind that is owed. Answers the kinds of which something was held. */
  async #turn(owes: number): Promise<number> {
    let heldBits = 0
    for (const { bit, takeSet, largestSet, duty } of parts) {
      if ((owes & bit) === 0) continue
      const batch = this.#sql.kind === 'embedded' ? largestEmbeddedSet : largestSet
      const taken = await takeSet(this.#sql, batch).catch(() => this.#sweep(duty, batch))
      this.#tell(taken)
      if (taken.seen >= batch && taken.done > 0) this.#owed |= bit
      // One that has done a part of something large says itself that there is more.
      else if (taken.seen > taken.done && (this.#owed & bit) === 0) heldBits |= bit
    }
    return heldBits
  }

  /** One set, halved as often as it takes. Where that fails too, be it that the connection is gone, nothing was done. */
  async #sweep(duty: Duty, batch: number): Promise<Dispatched> {
    const nothing: Run = { processed: 0, errors: 0, isFull: false, readyQueueIds: [] }
    const run = await duty.runOnce(this.#sql, { batch }).catch(() => nothing)
    const { processed: done, isFull, readyQueueIds, owes = 0, calledOffIds = [] } = run
    return { seen: isFull ? batch : done, done, readyQueueIds, delayMs: null, backlogged: 0, owes, calledOffIds }
  }

  #tell({ readyQueueIds, delayMs, owes = 0, backlogged, endedFlowIds = [], calledOffIds = [] }: Dispatched): void {
    if (endedFlowIds.length > 0) this.#options.onFlowsEnded(endedFlowIds)
    if (calledOffIds.length > 0) this.#options.onCalledOff(calledOffIds)
    if (readyQueueIds.length > 0) this.#options.onReady(readyQueueIds)
    if (delayMs !== null) this.#options.onDelay(delayMs)
    this.#owed |= owes | (backlogged > 0 ? owed.cancels : 0)
  }
}
