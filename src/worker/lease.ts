// The lease of one run: until when it holds, and how the run hears that it has lost it or is asked to stop.
import type { Claim } from '../engine/execution/claim.ts'
import type { Fence } from '../engine/fence.ts'
import type { EngineError } from '../model/errors.ts'

/** Its signals are made when they are first asked for: most runs never look at them, and they are heavy. */
export class Lease {
  readonly fence: Fence
  /** In this process's own clock. */
  expiresAt: number
  /** Its answer was read so late that it may have expired before: nothing begins under it until a renewal has confirmed it. */
  isDoubtful = false
  /** Its handler has started; renewals report it. */
  isStarted = false
  /** The claim reported the start already. */
  isStartReported = false
  /** Where it stands among those that are held; negative when it is not. */
  place = -1
  #lost: Ending | null = null
  #stop: Ending | null = null
  #onLost: (() => void) | null = null
  readonly #onExpired: (lease: Lease) => void

  /** `onExpired` loses it. */
  constructor(
    { executionId, leaseId, leaseEpoch }: Claim,
    expiresAt: number,
    onExpired: (lease: Lease) => void = () => {},
  ) {
    this.fence = { executionId, leaseId, leaseEpoch }
    this.expiresAt = expiresAt
    this.#onExpired = onExpired
  }

  get isLost(): boolean {
    return this.#lost?.error !== undefined
  }

  /**
   * Whether code may begin under it. It is lost when its time is over by this process's clock: the timer that loses it runs
   * late after a freeze, and behind code that blocks the event loop.
   */
  holds(): boolean {
    if (!this.isLost && performance.now() >= this.expiresAt) this.#onExpired(this)
    return !this.isLost
  }

  throwIfLost(): void {
    if (this.#lost?.error !== undefined) throw this.#lost.error
  }

  /** One hears of it: the run. */
  onLost(tell: () => void): void {
    if (this.isLost) tell()
    else this.#onLost = tell
  }

  /** The run is over: while its outcome is told, nothing else of it is kept. */
  forgetRun(): void {
    this.#onLost = null
  }

  /** Aborts when nothing more can be written under it. */
  get lost(): AbortSignal {
    return signalOf((this.#lost ??= {}))
  }

  /** Aborts when the run should stop: asked to, or because the lease is lost. */
  get stop(): AbortSignal {
    return signalOf((this.#stop ??= {}))
  }

  lose(error: EngineError): void {
    if (this.isLost) return
    end((this.#lost ??= {}), error)
    end((this.#stop ??= {}), error)
    this.#onLost?.()
  }

  askToStop(error: EngineError): void {
    end((this.#stop ??= {}), error)
  }
}

interface Ending {
  error?: EngineError
  controller?: AbortController
}

function signalOf(ending: Ending): AbortSignal {
  if (ending.controller === undefined) {
    ending.controller = new AbortController()
    if (ending.error !== undefined) ending.controller.abort(ending.error)
  }
  return ending.controller.signal
}

function end(ending: Ending, error: EngineError): void {
  ending.error ??= error
  ending.controller?.abort(ending.error)
}
