// How many executions a worker may claim beyond its free slots: as many as it finishes within a tenth of a second, by the runs that
// it has measured, so that none waits here while another worker could run it. Their payloads are bounded too.
const longestWaitMs = 100
const maxBytes = 4 * 1024 * 1024
// The weight of each new run and claim in the moving averages.
const weight = 0.1

export class Prefetch {
  readonly #slots: number
  readonly #max: number
  /** Moving average. Infinite until the first run has ended. */
  #runMs = Infinity
  #payloadBytes = 0

  constructor(slots: number, max: number) {
    this.#slots = slots
    this.#max = max
  }

  /** How many may wait for a slot. */
  get limit(): number {
    const inTime = Math.floor((this.#slots * longestWaitMs) / Math.max(this.#runMs, 0.001))
    const inBytes = Math.floor(maxBytes / Math.max(this.#payloadBytes, 1))
    // A run that takes the whole time is not short, however many slots the worker has.
    return this.#runMs >= longestWaitMs ? 0 : Math.min(this.#max, inTime, inBytes)
  }

  observeRun(ms: number): void {
    this.#runMs = this.#runMs === Infinity ? ms : this.#runMs + (ms - this.#runMs) * weight
  }

  /** A large payload counts in full at once: the next claim may return many like it. */
  observeClaim(bytes: number): void {
    this.#payloadBytes = Math.max(bytes, this.#payloadBytes + (bytes - this.#payloadBytes) * weight)
  }

  /** Runs are not short any more: stops prefetching until the next run has ended. */
  reset(): void {
    this.#runMs = Infinity
  }
}
