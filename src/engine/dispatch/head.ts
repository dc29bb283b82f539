// Where a query for dispatch rows begins. A processed dispatch row leaves a dead entry at the head of its index, and while an
// old transaction is open somewhere, the database cannot clean it up: a query from the head reads all of them again
// (measured: a hop takes five times as long after 100,000). So a process remembers the age of the oldest row that its last
// query found, and begins there.
//
// A row may become visible after younger ones, because its commit took longer or another transaction had locked it. So a query
// begins a second earlier. The duty, which always reads from the head, processes rows that are later than that. A process that
// has not queried for a second reads from the head too, so the head is never skipped when few rows are pending.

const latestMs = 1000
const headReadMs = 1000

export class DispatchHead {
  /** By the database's clock, as `ff_dispatch.created_at_ms`. */
  #fromMs = 0
  #queriedAt = -Infinity

  /** The first creation time to read, at this time of the process. */
  begin(now: number): number {
    if (now - this.#queriedAt >= headReadMs) this.#fromMs = 0
    return this.#fromMs
  }

  /** The oldest row that the query found, or null, and the time of its end. */
  advance(oldestMs: number | null, now: number): void {
    this.#queriedAt = now
    if (oldestMs !== null) this.#fromMs = Math.max(0, oldestMs - latestMs)
  }
}
