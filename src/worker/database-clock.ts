// The database's clock as seen from this process: by how much it is ahead of the monotonic clock here. Every reply with
// a time of the database bounds that difference. The database read the time after the call was sent, so its clock is
// ahead by at most their difference; and before the reply was read, so it is ahead by at least that difference. A reply
// that is read late, because the process was frozen, makes the lower bound worse and never the upper one.
//
// The least upper bound is kept. It makes a lease end too early by the time that its call took, and never too late.

// Clocks run at different speeds, so an older bound is less exact.
const driftPerMs = 0.001

export class DatabaseClock {
  #ahead = Infinity
  #since = 0

  /** The call was sent at `sentAt`, its reply was read at `answeredAt`, and the reply has this time of the database. */
  observe(time: number, sentAt: number, answeredAt: number): void {
    const most = time - sentAt
    const least = time - answeredAt
    const known = this.#aheadAt(answeredAt)
    // The bound is above every possible value: the database's clock was set forward.
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
