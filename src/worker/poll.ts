// The claims of a worker: one loop for each group of tasks, all for the same slots. A loop claims as many executions as
// fit. It waits in the claim while no execution is ready, and here while no slot is free: a full worker ignores hints.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../engine/contract.ts'
import type { ClaimRequest } from '../engine/execution/claimer.ts'
import { EngineError, isUnreachable } from '../model/errors.ts'
import type { Leases } from './leases.ts'
import { LostClaims } from './lost-claims.ts'
import type { Settings } from './options.ts'
import type { Registration } from './registration.ts'
import type { Runs } from './runs.ts'
import type { TaskGroup } from './serve.ts'

// The most that one claim returns.
const mostClaims = 10_000
const longestClaimWaitMs = 20_000
const firstPauseMs = 50
const longestPauseMs = 5000

export class Poll {
  readonly #engine: Engine
  readonly #settings: Settings
  readonly #runs: Runs
  readonly #registration: Registration
  readonly #leases: Leases
  readonly #lost: LostClaims
  readonly #stopping = new AbortController()
  #loops: Promise<unknown> | null = null
  /** Why claims fail, other than by an outage; null when they succeed. */
  #failure: string | null = null

  constructor(engine: Engine, settings: Settings, runs: Runs, registration: Registration, leases: Leases) {
    this.#engine = engine
    this.#settings = settings
    this.#runs = runs
    this.#registration = registration
    this.#leases = leases
    this.#lost = new LostClaims(() => leases.giveBackLost())
  }

  get isClaiming(): boolean {
    return this.#lost.isClaiming
  }

  get hasStarted(): boolean {
    return this.#loops !== null
  }

  start(): void {
    this.#loops ??= this.#run()
  }

  /** Resolves when the last claim has its reply. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#lost.stop()
    this.#runs.stop()
    await this.#loops
  }

  /** This worker has leases that it does not know: a claim under way accounts for them, or its reply was lost. */
  foundUnknown(): void {
    this.#lost.suspect()
  }

  /** Claims once for each group, without waiting; returns how many executions it claimed. */
  async once(): Promise<number> {
    let count = 0
    for (const group of this.#settings.served.groups) {
      const { free } = this.#runs
      if (free > 0) count += await this.#claim({ ...group, max: free, startCount: free })
    }
    return count
  }

  async #run(): Promise<void> {
    // When it fails, so do the claims, and they report it.
    await this.#leases.readClock().catch(() => {})
    await Promise.all(this.#settings.served.groups.map((group) => this.#loop(group)))
  }

  async #loop(group: TaskGroup): Promise<void> {
    const { signal } = this.#stopping
    let pauseMs = firstPauseMs
    while (!signal.aborted) {
      const max = Math.min(this.#runs.room, mostClaims)
      if (max === 0) {
        await this.#runs.changed()
        continue
      }
      try {
        const { spreadMs } = this.#registration
        const sentAt = performance.now()
        const startCount = Math.min(max, Math.max(0, this.#runs.free))
        const count = await this.#claim({ ...group, max, startCount, wait: longestClaimWaitMs, spread: spreadMs })
        pauseMs = firstPauseMs
        this.#reportSuccess()
        // An idle worker sends no renewals, which would report leases that it does not know.
        if (count === 0 && performance.now() - sentAt >= longestClaimWaitMs) this.#lost.suspect()
      } catch (error) {
        if (EngineError.is(error, 'engine_closed')) return
        if (EngineError.is(error, 'code_too_old')) pauseMs = longestPauseMs
        this.#reportFailure(error)
        await sleep(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
    }
  }

  // Each reason once, until a claim succeeds.
  #reportFailure(error: unknown): void {
    const { logger } = this.#settings
    const reason = error instanceof Error ? error.message : String(error)
    // The connection reports an outage, once for everything that uses it.
    if (isUnreachable(error)) return logger.debug(`the worker cannot claim work: ${reason}`)
    if (this.#failure === reason) return
    this.#failure = reason
    const isPassing = EngineError.is(error) && error.retryable
    logger[isPassing ? 'warn' : 'error'](`the worker cannot claim work and retries: ${reason}`)
  }

  #reportSuccess(): void {
    if (this.#failure === null) return
    this.#failure = null
    this.#settings.logger.warn('the worker claims work again')
  }

  async #claim(
    request: Pick<ClaimRequest, 'kinds' | 'versions' | 'max' | 'wait' | 'spread'> & { readonly startCount: number },
  ): Promise<number> {
    const { identity } = this.#settings
    return this.#lost.claim(async (signal) => {
      if (this.#stopping.signal.aborted) return 0
      const sentAt = performance.now()
      const { claims } = await this.#engine.executions.claim({ ...identity, ...request, signal })
      claims.forEach((claim, index) => this.#runs.begin(claim, sentAt, index < request.startCount))
      return claims.length
    })
  }
}
