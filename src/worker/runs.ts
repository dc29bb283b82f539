// The executions that a worker has claimed, from the claim to the reply that their outcome is stored.
//
//   claimed ──► waits for a slot ──► runs in a slot ──► outcome is reported, in sets with others ──► dropped
//
// Three limits: slots for running ones; as many waiting ones as `prefetch.ts` allows; and outcomes without a reply, so that the code
// does not run ahead of a database that is slower.
import type { Engine } from '../engine/contract.ts'
import type { Claim } from '../engine/execution/claim.ts'
import type { Codec } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import { bySets } from '../model/sets.ts'
import { Prefetch } from './prefetch.ts'
import type { Lease } from './lease.ts'
import type { Leases } from './leases.ts'
import type { Settings } from './options.ts'
import { messageOf, reportOutcome, type Outcome } from './outcome.ts'
import { countText, reportAbandoned } from './report.ts'
import { run, type RunDeps } from './run.ts'
import { RunMetrics } from './run-metrics.ts'
import type { Telemetry } from './telemetry.ts'
import { Threads } from './thread/threads.ts'

export interface RunsOptions {
  readonly engine: Engine
  readonly codec: Codec
  readonly settings: Settings
  readonly leases: Leases
  readonly telemetry: Telemetry | undefined
}

// Two full sets: while one is written the next is claimed and run (measured: with one, a drain is a tenth slower, because claims
// wait for completions; more claimed ahead makes it no faster).
const maxReporting = 1000
const maxReportingBytes = 8 * 1024 * 1024

export class Runs {
  readonly #options: RunsOptions
  readonly #deps: RunDeps
  readonly #prefetch: Prefetch
  readonly #threads: Threads
  readonly metrics = new RunMetrics()
  readonly #waiting: [Claim, Lease][] = []
  #running = 0
  #reporting = 0
  #reportingBytes = 0
  #endedCount = 0
  #endedAtPulse = -1
  #isStopping = false
  #onChange: (() => void)[] = []
  #onIdle: (() => void)[] = []

  constructor(options: RunsOptions) {
    const { engine, codec, settings, telemetry } = options
    const { logger, leaseTtlMs, concurrency, prefetch, unawaited } = settings
    const msUntil = (time: number): number => options.leases.msUntil(time)
    const middleware = telemetry === undefined ? settings.middleware : [telemetry.run, ...settings.middleware]
    this.#options = options
    this.#deps = { engine, codec, logger, msUntil, middleware, leaseTtlMs, aroundStep: telemetry?.step, unawaited }
    this.#threads = new Threads(unawaited)
    this.#prefetch = new Prefetch(concurrency, prefetch)
  }

  get running(): number {
    return this.#running
  }

  /** Claimed executions that wait for a slot. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Slots that nothing waits for. */
  get free(): number {
    return this.#options.settings.concurrency - this.#running - this.#waiting.length
  }

  /** How many to claim now. None while more than half of the prefetched ones still wait: a small claim costs as much as a large one. */
  get room(): number {
    if (this.#reporting >= maxReporting || this.#reportingBytes >= maxReportingBytes) return 0
    const prefetch = this.#prefetch.limit
    if (prefetch > 0 && this.#waiting.length > prefetch / 2) return 0
    return Math.max(0, this.free + prefetch)
  }

  /** Resolves one turn of the event loop after a run has ended, so that runs that end together count together. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve))
  }

  /** Resolves when no claimed execution is left. */
  async idle(): Promise<void> {
    if (this.#isIdle) return
    await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  get #isIdle(): boolean {
    return this.#running === 0 && this.#reporting === 0 && this.#waiting.length === 0
  }

  #notifyIdle(): void {
    if (this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  /**
   * `sentAt`: when the claim was sent, by this process's clock. `isReported`: the claim reported that the run starts at once.
   */
  begin(claim: Claim, sentAt: number, isReported: boolean): void {
    const lease = this.#options.leases.hold(claim, sentAt)
    lease.isStartReported = isReported
    this.#prefetch.observeClaim(claim.payload?.byteLength ?? 0)
    if (lease.isDoubtful) void this.#beginConfirmed(claim, lease)
    else this.#beginHeld(claim, lease)
  }

  async #beginConfirmed(claim: Claim, lease: Lease): Promise<void> {
    this.#reporting += 1
    await this.#options.leases.confirm(lease)
    this.#reporting -= 1
    if (!lease.isLost) this.#beginHeld(claim, lease)
    this.#notifyChange()
    this.#notifyIdle()
  }

  #beginHeld(claim: Claim, lease: Lease): void {
    const { settings } = this.#options
    // The worker began to stop during the claim. Another worker can run the execution at once.
    if (this.#isStopping) return void this.#giveBack([lease], 'the worker stops')
    if (this.#running < settings.concurrency) this.#start(claim, lease)
    else this.#waiting.push([claim, lease])
  }

  // A run that kills its process within milliseconds is never renewed. The first time, that does not matter; when its lease
  // has expired before, the start is reported first, so that a crash loop is counted even at a worker that claims ahead.
  #start(claim: Claim, lease: Lease): void {
    if (claim.reason === 'reclaim' && !lease.isStartReported) void this.#startReported(claim, lease)
    else this.#run(claim, lease)
  }

  async #startReported(claim: Claim, lease: Lease): Promise<void> {
    this.#running += 1
    await this.#options.leases.reportStart(lease)
    this.#running -= 1
    if (lease.isLost) this.#runNext()
    else if (this.#isStopping) void this.#giveBack([lease], 'the worker stops')
    else this.#run(claim, lease)
    this.#notifyChange()
    this.#notifyIdle()
  }

  #run(claim: Claim, lease: Lease): void {
    this.#running += 1
    lease.isStarted = true
    const startedAt = performance.now()
    // The task exists: the worker claims no other kinds and versions.
    const task = this.#options.settings.served.taskFor(claim)!
    const running =
      task.thread === null
        ? run(this.#deps, task, claim, lease)
        : this.#threads.run(task, claim, lease, (threaded) => run(this.#deps, threaded, claim, lease))
    void running.then((outcome) => this.#ended(lease, task.name, outcome, startedAt))
  }

  #ended(lease: Lease, task: string, outcome: Outcome, startedAt: number): void {
    this.#running -= 1
    this.#endedCount += 1
    const tookMs = performance.now() - startedAt
    this.#prefetch.observeRun(tookMs)
    this.metrics.ended(task, outcome, tookMs)
    lease.forgetRun()
    const bytes = outcome.kind === 'returned' ? (outcome.result?.byteLength ?? 0) : 0
    this.#reporting += 1
    this.#reportingBytes += bytes
    void reportOutcome(this.#deps, lease, outcome).then(() => this.#reported(lease, bytes))
    this.#runNext()
    this.#notifyChange()
  }

  #reported(lease: Lease, bytes: number): void {
    this.#reporting -= 1
    this.#reportingBytes -= bytes
    this.#options.leases.drop(lease)
    this.#notifyChange()
    this.#notifyIdle()
  }

  #runNext(): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    const [claim, lease] = next
    if (!lease.holds()) return this.#runNext()
    this.#start(claim, lease)
  }

  #notifyChange(): void {
    const waiting = this.#onChange
    if (waiting.length === 0) return
    this.#onChange = []
    setImmediate(() => {
      for (const resolve of waiting) resolve()
    })
  }

  /** Called about once a second. If no slot has become free since, another worker may run the waiting executions sooner. */
  giveBackStuck(): void {
    const isStuck = this.#endedCount === this.#endedAtPulse
    this.#endedAtPulse = this.#endedCount
    if (!isStuck || this.#waiting.length === 0) return
    this.#prefetch.reset()
    this.#giveBackWaiting('its worker is busy')
  }

  /** Releases the executions that wait for a slot. Running ones continue. */
  stop(): void {
    this.#isStopping = true
    this.#giveBackWaiting('the worker stops')
    const waiting = this.#onChange.splice(0)
    for (const resolve of waiting) resolve()
  }

  /** The runs that are still active are aborted and their executions released. False when that failed. */
  async abandon(): Promise<boolean> {
    const left = [...this.#options.leases.held]
    if (left.length === 0) return true
    for (const lease of left) lease.giveUp(stopped())
    const failure = await this.#release(left, 'the worker stops')
    reportAbandoned(this.#options.settings.logger, left, failure)
    return failure === null
  }

  /** Call it when no lease is held any more. */
  end(): Promise<void> {
    return this.#threads.stop()
  }

  #giveBackWaiting(reason: string): void {
    const leases = this.#waiting.splice(0).map(([, lease]) => lease)
    void this.#giveBack(leases, reason)
  }

  async #giveBack(leases: readonly Lease[], reason: string): Promise<void> {
    if (leases.length === 0) return
    const failure = await this.#release(leases, reason)
    if (failure === null) return
    const sentence = `could not release ${countText(leases.length, 'execution')}: ${failure}`
    this.#options.settings.logger.warn(`${sentence}. Another worker runs them when their leases expire`)
  }

  /** Why it failed; null when it did not. */
  async #release(leases: readonly Lease[], reason: string): Promise<string | null> {
    const { engine } = this.#options
    let failure: string | null = null
    this.#reporting += leases.length
    try {
      const requests = leases.map(({ fence }) => ({ ...fence, reason }))
      await bySets(requests, (set) => engine.executions.releaseMany(set))
    } catch (error) {
      failure = messageOf(error)
    }
    this.#reporting -= leases.length
    for (const lease of leases) this.#options.leases.drop(lease)
    this.#notifyIdle()
    return failure
  }
}

function stopped(): EngineError {
  return new EngineError('lease_revoked', 'the worker is stopping and releases its executions')
}
