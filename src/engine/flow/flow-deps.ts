// The dependencies of the edits of flows.
import type { Sql } from '../../sql/sql.ts'
import type { QueueRegistry } from '../queue/intern.ts'
import type { TaskRegistry } from '../task/registry.ts'

export interface FlowDeps {
  readonly sql: Sql
  readonly queues: QueueRegistry
  readonly tasks: TaskRegistry
  readonly turns: FlowTurns
}

/**
 * Edits of one flow wait for its lock anyway. Those of one process wait for each other here, where that costs no
 * connection.
 */
export class FlowTurns {
  readonly #last = new Map<string, Promise<void>>()

  /** Runs the work after all earlier work of the same flow. */
  async take<T>(flowUuid: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(flowUuid)
    let pass = (): void => {}
    const over = new Promise<void>((resolve) => (pass = resolve))
    this.#last.set(flowUuid, over)
    await before
    try {
      return await work()
    } finally {
      if (this.#last.get(flowUuid) === over) this.#last.delete(flowUuid)
      pass()
    }
  }
}
