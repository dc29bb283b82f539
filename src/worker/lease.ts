// The lease of one run: until when it holds, and how the run hears that it has lost it or is asked to stop.
import type { Claim } from '../engine/execution/claim.ts'
import type { Fence } from '../engine/transition/fence.ts'
import type { EngineError } from '../model/errors.ts'

export interface LeaseWatcher {
  /** Its time is over: loses it. */
  expired(lease: Lease): void
  /** It was lost, by whatever found that out; not when the worker gave it up itself. */
  lost(lease: Lease, error: EngineError): void
}

const noWatcher: LeaseWatcher = { expired() {}, lost() {} }

/** Its signals are made when they are first asked for: most runs never look at them, and they are heavy. */
export class Lease {
  readonly fence: Fence
  /** Of the claim, which the lease outlives: a run that is over keeps nothing else of it. */
  readonly kind: string
  /** From 1. */
  readonly attempt: number
  readonly maxAttempts: number
  /** How long the attempt may take, and when that is over by the database's clock. */
  readonly timeoutMs: number | null
  readonly attemptDeadlineAt: number | null
  /** The engine has stored how the run ended. A step that the code forgot to await may still find the lease gone. */
  isSettled = false
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
  readonly #watcher: LeaseWatcher

  constructor(claim: Claim, expiresAt: number, watcher: LeaseWatcher = noWatcher) {
    const { executionId, leaseId, leaseEpoch, policy } = claim
    this.fence = { executionId, leaseId, leaseEpoch }
    this.kind = claim.kind
    this.attempt = claim.retryCount + 1
    this.maxAttempts = policy?.retry?.attempts ?? 1
    this.timeoutMs = policy?.attemptTimeoutMs ?? null
    this.attemptDeadlineAt = claim.attemptDeadlineAt
    this.expiresAt = expiresAt
    this.#watcher = watcher
  }

  get isLost(): boolean {
    return this.#lost?.error !== undefined
  }

  /**
   * Whether code may begin under it. It is lost when its time is over by this process's clock: the timer that loses it runs
   * late after a freeze, and behind code that blocks the event loop.
   */
  holds(): boolean {
    if (!this.isLost && performance.now() >= this.expiresAt) this.#watcher.expired(this)
    return !this.isLost
  }

  throwIfLost(): void {
    if (this.#lost?.error !== undefined) throw this.#lost.error
  }

  get isAskedToStop(): boolean {
    return this.#stop?.error !== undefined && !this.isLost
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
    if (!this.isSettled) this.#watcher.lost(this, error)
    this.giveUp(error)
  }

  /** The worker ends it of its own accord. */
  giveUp(error: EngineError): void {
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
