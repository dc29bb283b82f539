// The threads of a worker: one for each run of a task with `thread`, reused by later runs. A run that is over before its code has
// ended, because its lease is lost or it was cancelled, terminates its thread.
import type { Claim } from '../../engine/execution/claim.ts'
import type { Context } from '../context.ts'
import type { Lease } from '../lease.ts'
import type { Outcome } from '../outcome.ts'
import type { Task } from '../task.ts'
import type { UnawaitedMode } from '../unawaited.ts'
import { Thread } from './thread.ts'

// Starting a thread is slow, so an idle one is kept for the next run.
const idleMs = 60_000

export class Threads {
  readonly #idle = new Map<Thread, NodeJS.Timeout>()
  readonly #ending = new Set<Promise<void>>()
  readonly #unawaited: UnawaitedMode

  constructor(unawaited: UnawaitedMode) {
    this.#unawaited = unawaited
  }

  /** Calls `work` with a copy of the task whose handler runs in a thread. */
  async run(task: Task, claim: Claim, lease: Lease, work: (threaded: Task) => Promise<Outcome>): Promise<Outcome> {
    let thread: Thread | null = null
    let isRunning = false
    const handler = async (ctx: Context, input: unknown): Promise<unknown> => {
      thread = this.#take()
      isRunning = true
      try {
        return await thread.run({ task, claim, lease, ctx, input, unawaited: this.#unawaited })
      } finally {
        isRunning = false
      }
    }
    try {
      return await work({ ...task, handler })
    } finally {
      if (thread !== null) this.#release(thread, isRunning)
    }
  }

  /** Call it when no run is active. */
  async stop(): Promise<void> {
    for (const thread of this.#idle.keys()) this.#end(thread)
    await Promise.all(this.#ending)
  }

  #take(): Thread {
    for (const [thread, timer] of this.#idle) {
      clearTimeout(timer)
      this.#idle.delete(thread)
      if (!thread.isDead) return thread
    }
    return new Thread()
  }

  #release(thread: Thread, isRunning: boolean): void {
    if (isRunning) return this.#end(thread)
    if (thread.isDead) return
    this.#idle.set(thread, setTimeout(() => this.#end(thread), idleMs).unref())
  }

  #end(thread: Thread): void {
    clearTimeout(this.#idle.get(thread))
    this.#idle.delete(thread)
    const ending = thread.end().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}
