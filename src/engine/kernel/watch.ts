import { Bell } from './bell.ts'

/**
 * A waiter that queries, waits for a hint, and queries again. A hint that arrives during the query ends the next wait at once,
 * because the query may not have seen the change.
 */
export class Watch<Id> {
  readonly #bell = new Bell()
  readonly #concerns: (id: Id) => boolean
  readonly end: () => void
  #isNotified = false

  constructor(concerns: (id: Id) => boolean, end: () => void) {
    this.#concerns = concerns
    this.end = end
  }

  /** Null when it may be any id. */
  notify(id: Id | null): void {
    if (id !== null && !this.#concerns(id)) return
    this.#isNotified = true
    this.#bell.ring()
  }

  /**
   * Resolves at the next hint since the last one that it reported, after `timeoutMs`, or when `signal` aborts. With a spread,
   * it waits a random share of it after the hint, and coalesces the hints that arrive meanwhile. Returns true for a hint.
   */
  async next(timeoutMs: number, signal?: AbortSignal, spreadMs = 0): Promise<boolean> {
    if (!this.#isNotified) await this.#bell.wait(signal, timeoutMs)
    const isHint = this.#isNotified
    if (isHint && spreadMs > 0) await new Bell().wait(signal, Math.random() * spreadMs)
    this.#isNotified = false
    return isHint
  }
}
