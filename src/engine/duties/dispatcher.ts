// The dispatcher does the work that an ending leaves for others, after its commit and in the process that wrote it, while
// no caller waits. A write returns the pending work as an effect, so that an ending without such work costs nothing. A duty
// does what remains, for example when this process dies.
//
// Two loops run at the same time. One processes the dispatch rows of endings, one set after the other, because the sets
// need the same rows. The other cancels the executions of the cancel backlog, which waits for no graph.
import type { Sql } from '../../sql/sql.ts'
import { cancelBacklog } from './cancel-backlog.ts'
import { dispatch } from './dispatch.ts'
import { leaveChildren } from '../dispatch/children.ts'
import { DispatchLoop, type DispatchPart } from './dispatch-loop.ts'
import type { Dispatched } from '../dispatch/dispatched.ts'
import type { Publish } from '../kernel/effects.ts'
import { pendingDispatch } from '../kernel/pending-dispatch.ts'
import { largestParentSet, notifyParents } from '../dispatch/parent.ts'
import { endBacklogged } from '../dispatch/cancel-backlog.ts'
import { resolveFlows } from '../dispatch/sets.ts'

const ofEndings: readonly DispatchPart[] = [
  { bit: pendingDispatch.flow, takeSet: resolveFlows, largestSet: 500, duty: dispatch },
  { bit: pendingDispatch.parent, takeSet: notifyParents, largestSet: largestParentSet, duty: dispatch },
  { bit: pendingDispatch.children, takeSet: leaveChildren, largestSet: 500, duty: dispatch },
]
const ofCancels: readonly DispatchPart[] = [
  { bit: pendingDispatch.cancels, takeSet: endBacklogged, largestSet: 500, duty: cancelBacklog },
]

export class Dispatcher {
  readonly #publish: Publish
  readonly #loops: readonly DispatchLoop[]

  constructor(sql: Sql, publish: Publish) {
    this.#publish = publish
    this.#loops = [ofEndings, ofCancels].map((parts) => new DispatchLoop(sql, parts, (taken) => this.#finish(taken)))
  }

  /** Bits of `pendingDispatch`, for rows that are committed. */
  start(pending: number): void {
    for (const loop of this.#loops) loop.start(pending)
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    for (;;) {
      const running = this.#loops.flatMap((loop) => loop.running ?? [])
      if (running.length === 0) return
      await Promise.all(running)
    }
  }

  /** Starts no more statements; resolves when the running ones are done. */
  async close(): Promise<void> {
    for (const loop of this.#loops) loop.stop()
    await this.idle()
  }

  // This dispatcher also processes the next hop, even if the process does not start it for other writes.
  #finish({ done, effects }: Dispatched): void {
    this.start(effects.pendingDispatch ?? 0)
    this.#publish({ ...effects, wroteEvents: done > 0 })
  }
}
