// How long what runs may go on after a stop. Whoever stops once more may end it earlier, and never later.
const longestTimerMs = 2 ** 31 - 1

export class Grace {
  /** Resolves when the time is over. */
  readonly over: Promise<void>
  readonly #timers: NodeJS.Timeout[] = []
  #tell!: () => void
  #hasEnded = false

  constructor() {
    this.over = new Promise((resolve) => (this.#tell = resolve))
  }

  endIn(ms: number): void {
    if (this.#hasEnded) return
    // A timer that is set for longer goes off at once.
    this.#timers.push(setTimeout(this.#tell, Math.min(ms, longestTimerMs)))
  }

  /** Nobody waits for it any more. */
  end(): void {
    this.#hasEnded = true
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
