// The dispatcher: what an ending owes others is done behind its commit, by the process that wrote it, while nobody waits for
// it. A write says in its answer what is owed, so that one which owes nothing costs nothing. Whatever this process does not
// get to, be it that it dies, is left to the duties.
//
// Two runs are under way beside each other: what endings owe, one set after the other, because they meet at the same rows; and
// the backlog of cancels, which waits for nobody's graph.
import type { Sql } from '../../sql/sql.ts'
import { cancelBacklog } from './cancel-backlog.ts'
import { dispatch } from './dispatch.ts'
import { leaveChildren } from '../dispatch/children.ts'
import { DispatchLoop, type DispatchPart } from './dispatch-loop.ts'
import type { Dispatched } from '../dispatch/dispatched.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'
import { mostJudged, tellParents } from '../dispatch/parent.ts'
import { endBacklogged, resolveFlows, resolveMoreOfFlows } from '../dispatch/sets.ts'

export interface DispatcherOptions {
  readonly onReady: (queueIds: readonly number[]) => void
  readonly onDelay: (inMs: number) => void
  readonly onFlowsEnded: (flowIds: readonly string[]) => void
  readonly onCalledOff: (executionIds: readonly string[]) => void
}

const ofEndings: readonly DispatchPart[] = [
  { bit: pendingDispatch.flow, takeSet: resolveFlows, largestSet: 500, duty: dispatch },
  { bit: pendingDispatch.moreOfFlow, takeSet: resolveMoreOfFlows, largestSet: 500, duty: dispatch },
  { bit: pendingDispatch.parent, takeSet: tellParents, largestSet: mostJudged, duty: dispatch },
  { bit: pendingDispatch.children, takeSet: leaveChildren, largestSet: 500, duty: dispatch },
]
const ofCancels: readonly DispatchPart[] = [
  { bit: pendingDispatch.cancels, takeSet: endBacklogged, largestSet: 500, duty: cancelBacklog },
]

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #loops: readonly DispatchLoop[]

  constructor(sql: Sql, options: DispatcherOptions) {
    this.#options = options
    this.#loops = [ofEndings, ofCancels].map((parts) => new DispatchLoop(sql, parts, (taken) => this.#tell(taken)))
  }

  /** Bits of `owed`, for rows that are committed. */
  kick(owes: number): void {
    for (const loop of this.#loops) loop.kick(owes)
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    for (;;) {
      const running = this.#loops.flatMap((loop) => loop.running ?? [])
      if (running.length === 0) return
      await Promise.all(running)
    }
  }

  /** Begins no more statements; resolves when those under way are done. */
  async close(): Promise<void> {
    for (const loop of this.#loops) loop.stop()
    await this.idle()
  }

  #tell({ readyQueueIds, delayMs, owes = 0, backlogged, endedFlowIds = [], calledOffIds = [] }: Dispatched): void {
    if (endedFlowIds.length > 0) this.#options.onFlowsEnded(endedFlowIds)
    if (calledOffIds.length > 0) this.#options.onCalledOff(calledOffIds)
    if (readyQueueIds.length > 0) this.#options.onReady(readyQueueIds)
    if (delayMs !== null) this.#options.onDelay(delayMs)
    this.kick(owes | (backlogged > 0 ? pendingDispatch.cancels : 0))
  }
}
