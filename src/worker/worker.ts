// A worker: claims as many executions as it has free slots, runs their tasks, and keeps their leases meanwhile.
//
//   start ──► poll.ts: free slots ──► claim, waiting for work ──► runs.ts: run each ──► slots free again
//   stop  ──► no more claims ──► runs finish within the grace ──► the rest is given back at once
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../engine/contract.ts'
import { jsonCodec, type Codec } from '../model/codec.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { EngineError } from '../model/errors.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { checkStart } from './check-start.ts'
import { Grace } from './grace.ts'
import { Leases, type LeaseHealth } from './leases.ts'
import { settingsOf, type Settings, type WorkerOptions } from './options.ts'
import { Poll } from './poll.ts'
import { Registration } from './registration.ts'
import { countText } from './report.ts'
import { Runs } from './runs.ts'
import { StopSignals } from './stop-signals.ts'
import type { Telemetry } from './telemetry.ts'
import { isInsideThread } from './thread/inside.ts'

export interface WorkerDeps {
  readonly engine: Engine
  readonly codec?: Codec
  readonly telemetry?: Telemetry | undefined
  /**
   * Hints of runs that were asked to stop, by the uuid of their execution; without them the worker checks once a
   * second.
   */
  readonly onStoppedRun?: ((listener: (executionId: string | null) => void) => () => void) | undefined
  /** The engine is behind a server. */
  readonly overHttp?: boolean
  /** Rejects when the database does not fit the code. */
  readonly checkSchema?: () => Promise<void>
  readonly onStart?: () => Promise<void> | void
  readonly onStop?: () => Promise<void> | void
}

// A run that has lost its lease ends at once, unless code of the user never returns, such as the schema of an input.
const longestEndMs = 5000

export class Worker implements AsyncDisposable {
  readonly instanceId: string
  readonly #deps: WorkerDeps
  readonly #settings: Settings
  readonly #leases: Leases
  readonly #runs: Runs
  readonly #poll: Poll
  readonly #registration: Registration
  readonly #signals: StopSignals
  readonly #grace = new Grace()
  #starting: Promise<void> | null = null
  #stopped: Promise<void> | null = null

  constructor(options: WorkerOptions, deps: WorkerDeps) {
    const { engine, codec = jsonCodec } = deps
    const settings = settingsOf(options)
    const { logger, leaseTtlMs, identity } = settings
    this.#deps = deps
    this.#settings = settings
    this.instanceId = identity.workerInstanceId
    this.#leases = new Leases({
      engine,
      workerInstanceId: this.instanceId,
      leaseTtlMs,
      logger,
      isClaiming: () => this.#poll.isClaiming,
      onUnknown: () => this.#poll.foundUnknown(),
      onStoppedRun: deps.onStoppedRun,
      onPulse: () => this.#runs.giveBackStuck(),
    })
    this.#runs = new Runs({ engine, codec, settings, leases: this.#leases, telemetry: deps.telemetry })
    this.#registration = new Registration(engine, settings)
    this.#poll = new Poll(engine, settings, this.#runs, this.#registration, this.#leases)
    this.#signals = new StopSignals((signal) => {
      logger.info(`${signal}: stopped claiming; finishing running work`)
      return this.stop()
    })
  }

  /** How many executions it is running now. */
  get running(): number {
    return this.#runs.running
  }

  /** How long its runs may continue after a stop without a grace of its own, in milliseconds. */
  get graceMs(): number {
    return this.#settings.graceMs
  }

  /** Whether its leases are renewed. */
  get leaseHealth(): LeaseHealth {
    return this.#leases.health
  }

  /**
   * Its metrics in the text format of Prometheus, for a route of your own: how many executions are running, and how its
   * runs ended.
   *
   * @example
   * createServer((_, answer) => answer.end(worker.metrics())).listen(9464, '127.0.0.1')
   */
  metrics(): string {
    const { concurrency, identity } = this.#settings
    return this.#runs.metrics.text(identity.workerId, {
      running: this.#runs.running,
      waiting: this.#runs.waiting,
      concurrency,
      leases: this.#leases.held.length,
      renewalFailures: this.leaseHealth.failureCount,
    })
  }

  /**
   * Starts to claim and run executions. Rejects when the worker could never work: its key is invalid or lacks the scope
   * `worker`, or the schema of the database does not fit this version. It waits for a database or server that is
   * unreachable for now. Resolves when its tasks are registered, so that their policies apply to every submit.
   */
  async start(): Promise<void> {
    if (this.#stopped !== null) throw new EngineError('engine_closed', 'this worker has stopped; make another')
    if (this.#poll.hasStarted) return
    if (isInsideThread) throw insideThread()
    this.#starting ??= this.#start().finally(() => (this.#starting = null))
    return this.#starting
  }

  async #start(): Promise<void> {
    await checkStart(() => this.#check(), this.#deps.overHttp === true)
    if (this.#stopped !== null) return
    // Called first: when it throws, nothing has begun.
    const started = this.#deps.onStart?.()
    const registered = this.#registration.start()
    this.#poll.start()
    if (this.#settings.handlesSignals) this.#signals.listen()
    await Promise.all([started, registered])
  }

  async #check(): Promise<void> {
    await this.#deps.checkSchema?.()
    await this.#leases.readClock()
    // Needs the same scope as a claim, and changes nothing.
    const { workerInstanceId, leaseTtl } = this.#settings.identity
    await this.#deps.engine.executions.renew({ workerInstanceId, leases: [], leaseTtl })
  }

  /**
   * Stops claiming, and lets running executions finish within `grace` (10 s by default). It then releases the rest at
   * once, without counting an attempt. A second call may shorten the grace, and never lengthens it.
   */
  stop(options: { readonly grace?: Duration } = {}): Promise<void> {
    refuseUnknownFields('stop', options, ['grace'])
    const graceMs = options.grace === undefined ? null : parseDuration('grace', options.grace)
    if (this.#stopped === null || graceMs !== null) this.#grace.endIn(graceMs ?? this.graceMs)
    return (this.#stopped ??= this.#signals.ignoreDuring(() => this.#stop()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /**
   * Claims once, without waiting, and runs the claimed executions until each run has ended or suspended; for tests.
   * Returns how many it claimed.
   */
  async tick(): Promise<number> {
    const count = await this.#poll.once()
    await this.#runs.idle()
    return count
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    const hadStarted = this.#poll.hasStarted
    const wasClaiming = this.#poll.isClaiming
    await this.#poll.stop()
    await Promise.race([this.#runs.idle(), this.#grace.over])
    this.#grace.end()
    const isReleased = await this.#runs.abandon()
    await this.#idleWithin(longestEndMs)
    if (this.#runs.running > 0) {
      this.#settings.logger.warn(
        `${countText(this.#runs.running, 'run')} did not react to the stop: the code still runs, and its result is dropped`,
      )
    }
    this.#leases.stop()
    // An aborted claim may have leased executions all the same: its reply is lost, and this worker does not run them.
    if (wasClaiming && isReleased) await this.#leases.giveBackUnknown()
    await this.#runs.end()
    if (hadStarted) await this.#registration.stop()
    await this.#deps.onStop?.()
  }

  async #idleWithin(ms: number): Promise<void> {
    const over = new AbortController()
    const idle = this.#runs.idle().then(() => over.abort())
    await Promise.race([idle, sleep(ms, undefined, { signal: over.signal }).catch(() => {})])
  }
}

function insideThread(): EngineError {
  const sentence =
    'a worker was started in the thread of a task, because the module of the task starts one; move the task to a module that only exports tasks'
  return new EngineError('unsupported', sentence)
}
