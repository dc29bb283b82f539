// One try of a step, and its signal: it aborts when the try takes too long, when the run is over, and with the lease.
import type { StepTry } from './context.ts'
import type { Lease } from './lease.ts'

/** The signal is made when it is first read: it is expensive, and most steps do not use it. */
export class Try implements StepTry {
  readonly idempotencyKey: string
  readonly tryCount: number
  readonly #lease: Lease
  readonly #canStop: boolean
  #signal: AbortSignal | null = null
  #own: AbortController | null = null
  #reason: Error | null = null
  /** Called by `stop`. */
  onStop: ((reason: Error) => void) | null = null

  /** `canStop` is false for a compensation: only the loss of the lease stops it. */
  constructor(lease: Lease, idempotencyKey: string, tryCount: number, canStop = true) {
    this.#lease = lease
    this.#canStop = canStop
    this.idempotencyKey = idempotencyKey
    this.tryCount = tryCount
  }

  get signal(): AbortSignal {
    if (this.#signal !== null) return this.#signal
    this.#own = new AbortController()
    if (this.#reason !== null) this.#own.abort(this.#reason)
    return (this.#signal = AbortSignal.any([this.#canStop ? this.#lease.stop : this.#lease.lost, this.#own.signal]))
  }

  stop(reason: Error): void {
    this.#reason ??= reason
    this.#own?.abort(this.#reason)
    this.onStop?.(this.#reason)
  }
}
