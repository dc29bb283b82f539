// Where a look at what is owed begins. A dispatch row that is paid leaves a dead entry at the head of its index, and while an
// old transaction is open somewhere the database cannot clean it up: a look that begins at the head reads all of them again
// (measured: a hop takes five times as long after 100,000). So a process remembers how old the oldest row was that its last
// look met, and begins there.
//
// A row may come to light after younger ones, because its commit took longer or somebody held it: so a look begins a second
// earlier. What is late by more than that is the duty's, which always looks from the head; as does a process that has
// not looked for a second, so that the head is never passed over when little is owed.

const latestMs = 1000
const lookAgainMs = 1000

export class OwedHead {
  /** By the database's clock, as `ff_dispatch.created_at_ms`. */
  #fromMs = 0
  #lookedAt = -Infinity

  /** Whence to look, at this time of the process. */
  begin(now: number): number {
    if (now - this.#lookedAt >= lookAgainMs) this.#fromMs = 0
    return this.#fromMs
  }

  /** What that look met, and when it was over; null when it met nothing. */
  met(oldestMs: number | null, now: number): void {
    this.#lookedAt = now
    if (oldestMs !== null) this.#fromMs = Math.max(0, oldestMs - latestMs)
  }
}
