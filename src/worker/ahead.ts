// How much a worker may claim ahead of its slots: as many as it runs within a tenth of a second, as far as it has seen, so that
// nothing waits here that another worker could run; and few bytes, so that large payloads do not pile up.
const longestWaitMs = 100
const mostBytes = 4 * 1024 * 1024
// Each run and claim counts for a tenth of what is known.
const share = 0.1

export class Ahead {
  readonly #slots: number
  readonly #prefetch: number
  /** How long runs take, of late. */
  #runMs = Infinity
  #payloadBytes = 0

  constructor(slots: number, prefetch: number) {
    this.#slots = slots
    this.#prefetch = prefetch
  }

  get most(): number {
    const inTime = Math.floor((this.#slots * longestWaitMs) / Math.max(this.#runMs, 0.001))
    const inBytes = Math.floor(mostBytes / Math.max(this.#payloadBytes, 1))
    // A single run that takes the whole time is not short, however many slots there are.
    return this.#runMs >= longestWaitMs ? 0 : Math.min(this.#prefetch, inTime, inBytes)
  }

  ran(ms: number): void {
    this.#runMs = this.#runMs === Infinity ? ms : this.#runMs + (ms - this.#runMs) * share
  }

  /** A large one counts at once: the next claim may be full of them. */
  claimed(bytes: number): void {
    this.#payloadBytes = Math.max(bytes, this.#payloadBytes + (bytes - this.#payloadBytes) * share)
  }

  /** Runs are not short any more: nothing is claimed ahead until it is known anew. */
  forget(): void {
    this.#runMs = Infinity
  }
}
