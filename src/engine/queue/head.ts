// Where each queue begins. A claimed ready row leaves a dead entry at the head of the index, and while an old
// transaction is open somewhere the database cannot clean it up: a claim that begins at the head reads all of them
// again (measured: six times slower after 200,000). So a process remembers, for each queue, the first key that its last
// claim found, and begins there.
//
// A row that is put before that key (a higher priority, a retry, a crash) would be skipped. So the head itself is read
// once a second, whenever a claim got less than it requested, when a hint names the queue, and after this process put a
// row there. The order is late by a second at most under a backlog, and never when the queue is short.

export interface ReadyKey {
  readonly negPriority: number
  readonly rank: number
  readonly executionId: string
}

const head: ReadyKey = { negPriority: -32_768, rank: -1, executionId: '00000000-0000-0000-0000-000000000000' }
const headReadMs = 1000

export interface Starts {
  readonly keys: readonly ReadyKey[]
  /** Every start is the head of its queue. */
  readonly areHeads: boolean
  /** For one of the queues it was time to read the head. */
  readonly isDue: boolean
}

interface Start {
  key: ReadyKey
  headSeenAt: number
}

export class QueueHeads {
  readonly #starts = new Map<number, Start>()

  /** The key to begin at in each queue, now. */
  startsOf(queueIds: readonly number[]): Starts {
    const now = performance.now()
    let isDue = false
    const keys = queueIds.map((id) => {
      const start = this.#starts.get(id)
      if (start !== undefined && now - start.headSeenAt < headReadMs) return start.key
      this.#starts.set(id, { key: head, headSeenAt: now })
      isDue = true
      return head
    })
    return { keys, isDue, areHeads: keys.every((key) => key === head) }
  }

  /** The first row of this queue that a claim found. */
  advance(queueId: number, first: ReadyKey): void {
    const start = this.#starts.get(queueId)
    if (start !== undefined) start.key = first
  }

  /** The next claim reads these from the head; null: every queue. */
  reset(queueIds: Iterable<number> | null): void {
    if (queueIds === null) return this.#starts.clear()
    for (const id of queueIds) this.#starts.delete(id)
  }
}
