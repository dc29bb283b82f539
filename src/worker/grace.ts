// The time that running work has after a stop. A second stop may end it earlier, and never later.
const longestTimerMs = 2 ** 31 - 1

export class Grace {
  /** Resolves when the time is over. */
  readonly over: Promise<void>
  readonly #timers: NodeJS.Timeout[] = []
  #resolve!: () => void
  #hasEnded = false

  constructor() {
    this.over = new Promise((resolve) => (this.#resolve = resolve))
  }

  endIn(ms: number): void {
    if (this.#hasEnded) return
    // A longer timer would fire at once.
    this.#timers.push(setTimeout(this.#resolve, Math.min(ms, longestTimerMs)))
  }

  /** The runs have ended: clears the timers. */
  end(): void {
    this.#hasEnded = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
