// The lease of one run: how long it is valid, and the signals that it is lost or that the run is asked to stop.
import type { Claim } from '../engine/execution/claim.ts'
import type { Fence } from '../engine/transition/fence.ts'
import type { EngineError } from '../model/errors.ts'

export interface LeaseWatcher {
  /** Its time is over. The watcher marks it as lost. */
  expired(lease: Lease): void
  /** It is lost. Not called when the worker gave it up itself. */
  lost(lease: Lease, error: EngineError): void
}

const noWatcher: LeaseWatcher = { expired() {}, lost() {} }

/** Its signals are made when they are first read: they are expensive, and most runs do not use them. */
export class Lease {
  readonly fence: Fence
  /** Copied from the claim, which is not kept in memory after the run. */
  readonly kind: string
  /** From 1. */
  readonly attempt: number
  readonly maxAttempts: number
  /** How long the attempt may take, and its end by the database's clock. */
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
  /** Its index among the held leases; negative when it is not held. */
  place = -1
  #lost: LeaseEnd | null = null
  #stop: LeaseEnd | null = null
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

  /** Only one callback: that of the run. */
  onLost(callback: () => void): void {
    if (this.isLost) callback()
    else this.#onLost = callback
  }

  /** The run is over. While its outcome is reported, nothing else of it is kept in memory. */
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

interface LeaseEnd {
  error?: EngineError
  controller?: AbortController
}

function signalOf(ending: LeaseEnd): AbortSignal {
  if (ending.controller === undefined) {
    ending.controller = new AbortController()
    if (ending.error !== undefined) ending.controller.abort(ending.error)
  }
  return ending.controller.signal
}

function end(ending: LeaseEnd, error: EngineError): void {
  ending.error ??= error
  ending.controller?.abort(ending.error)
}
