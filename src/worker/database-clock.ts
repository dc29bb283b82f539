// The database's clock as seen from this process: by how much it is ahead of the monotonic clock here. Every answer with a time
// of the database bounds that. The time was read after the call was sent, so the clock is ahead by at most their difference;
// and before the answer was read, so it is ahead by at least that difference. An answer that is read late, because
// the process was frozen, makes the lower bound worse and never the upper one.
//
// The least upper bound is kept. It makes a lease end too early by the time that its call took, and never too late.

// Clocks run at different speeds: a bound is worth less as it gets older.
const driftPerMs = 0.001

export class DatabaseClock {
  #ahead = Infinity
  #since = 0

  /** A call that was sent and answered then has returned this time of the database. */
  observe(time: number, sentAt: number, answeredAt: number): void {
    const most = time - sentAt
    const least = time - answeredAt
    const known = this.#aheadAt(answeredAt)
    // Above everything that was possible: the clock was set forward.
    if (most > known && least <= known) return
    this.#ahead = most
    this.#since = answeredAt
  }

  /** The earliest moment, by this process's clock, at which the database's clock can show this time. */
  earliest(time: number, now: number): number {
    return time - this.#aheadAt(now)
  }

  #aheadAt(now: number): number {
    return this.#ahead + Math.max(0, now - this.#since) * driftPerMs
  }
}
