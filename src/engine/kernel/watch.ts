import { Bell } from './bell.ts'

/**
 * One who looks, waits, and looks again. It hears while it looks too, and then does not wait: what came after the look had
 * begun may not be in what it saw.
 */
export class Watch<Id> {
  readonly #bell = new Bell()
  readonly #concerns: (id: Id) => boolean
  readonly end: () => void
  #hasHeard = false

  constructor(concerns: (id: Id) => boolean, end: () => void) {
    this.#concerns = concerns
    this.end = end
  }

  /** Null when it may be any. */
  hear(id: Id | null): void {
    if (id !== null && !this.#concerns(id)) return
    this.#hasHeard = true
    this.#bell.ring()
  }

  /**
   * Resolves at the next hint since the last one that it told, at the latest after `timeoutMs` or when `signal` aborts. With
   * a spread, a random share of it after the hint: what is heard meanwhile is told with it. True when it was a hint.
   */
  async next(timeoutMs: number, signal?: AbortSignal, spreadMs = 0): Promise<boolean> {
    if (!this.#hasHeard) await this.#bell.wait(signal, timeoutMs)
    const isHint = this.#hasHeard
    if (isHint && spreadMs > 0) await new Bell().wait(signal, Math.random() * spreadMs)
    this.#hasHeard = false
    return isHint
  }
}
