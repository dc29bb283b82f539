// The worker of a test: it claims when the test engine calls it, and its runs are those of any worker. It has no timers
// of its own, and it can die as a killed process does, without releasing anything.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine } from '../engine/contract.ts'
import type { Claim } from '../engine/execution/claim.ts'
import type { Codec } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import type { Logger } from '../model/logger.ts'
import { Lease } from '../worker/lease.ts'
import type { Middleware } from '../worker/middleware.ts'
import type { ProcessClock } from '../worker/process-clock.ts'
import { reportOutcome } from '../worker/outcome.ts'
import { reportLost } from '../worker/report.ts'
import { run } from '../worker/run.ts'
import { ServedTasks } from '../worker/serve.ts'
import type { Task } from '../worker/task.ts'
import type { UnawaitedMode } from '../worker/unawaited.ts'
import type { Mocks } from './mocks.ts'
import { SeveredEngine } from './severed-engine.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface TestWorkerOptions {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly tasks: readonly Task[]
  readonly mocks: Mocks
  readonly codec: Codec
  readonly logger: Logger
  readonly middleware: readonly Middleware[]
  readonly lanes: readonly string[] | undefined
  readonly capabilities: readonly string[] | undefined
  readonly unawaited: UnawaitedMode
}

// Leases are renewed whenever the time moves by a part of this.
const leaseTtlMs = limits.leaseTtlMaxMs
export const renewEveryMs: number = leaseTtlMs / 3
const mostRuns = 64
// How long a try with a timeout may take in real time, before it counts as hanging when the test continues.
const patienceMs = 20

interface Limit {
  readonly at: number
  readonly onLate: () => void
  /** Real time counts as well, for a caller that awaits the result without moving the clock. */
  readonly timer: NodeJS.Timeout
}

let workerCount = 0

export class TestWorker implements ProcessClock {
  readonly instanceId = `test-worker-${(workerCount += 1)}`
  /** Every pause between two tries waits for the clock of the test. */
  readonly longestPauseMs = 0
  readonly #options: TestWorkerOptions
  readonly #process: SeveredEngine
  readonly #served: ServedTasks
  readonly #runs = new Map<Lease, Promise<unknown>>()
  readonly #limits = new Set<Limit>()
  readonly #died: Promise<void>
  #die!: () => void
  /** The works of steps that are under way. */
  #workCount = 0

  constructor(options: TestWorkerOptions) {
    this.#options = options
    this.#process = new SeveredEngine(options.engine)
    const watching = {
      begin: () => void (this.#workCount += 1),
      end: () => void (this.#workCount -= 1),
    }
    this.#served = new ServedTasks(options.tasks.map((task) => options.mocks.over(task, watching)))
    this.#died = new Promise((resolve) => (this.#die = resolve))
  }

  /** Whether any run is active, and so holds its lease. */
  get isRunning(): boolean {
    return this.#runs.size > 0
  }

  /** Claims ready executions and starts them; returns how many. */
  async claim(): Promise<number> {
    const { lanes = this.#served.lanes, capabilities = [] } = this.#options
    const worker = { workerId: 'test', workerInstanceId: this.instanceId, lanes, capabilities, leaseTtl: leaseTtlMs }
    let count = 0
    for (const group of this.#served.groups) {
      const { claims } = await this.#process.engine.executions.claim({ ...worker, ...group, max: mostRuns })
      for (const claim of claims) this.#begin(claim)
      count += claims.length
    }
    return count
  }

  #begin(claim: Claim): void {
    const { codec, logger, middleware, unawaited } = this.#options
    const msUntil = (time: number): number => time - this.#options.clock.now
    const hasTimedOut = ({ attemptDeadlineAt: at }: Lease): boolean => at !== null && msUntil(at) <= 0
    const lease = new Lease(claim, Infinity, {
      expired() {},
      lost: (lost, error) => reportLost(logger, lost, error, hasTimedOut(lost)),
    })
    const { engine } = this.#process
    const around = { engine, codec, logger, msUntil, middleware, leaseTtlMs, clock: this, unawaited }
    const task = this.#served.taskFor(claim)!
    const ended = run(around, task, claim, lease)
      .then((outcome) => reportOutcome(around, lease, outcome))
      .finally(() => this.#runs.delete(lease))
    this.#runs.set(lease, ended)
  }

  /** Resolves when every run has ended or suspended, or hangs in tries with a timeout, or the worker is dead. */
  async idle(): Promise<void> {
    const over = new AbortController()
    const ended = Promise.all(this.#runs.values())
    try {
      await Promise.race([ended, this.#died, this.#hanging(over.signal)])
    } finally {
      over.abort()
    }
  }

  async #hanging(over: AbortSignal): Promise<void> {
    for (let since = performance.now(); performance.now() - since < patienceMs;) {
      await sleep(1, undefined, { signal: over }).catch(() => {})
      if (over.aborted) return
      const isHanging = this.#workCount > 0 && this.#workCount === this.#limits.size && this.#process.callCount === 0
      if (!isHanging) since = performance.now()
    }
  }

  /** Does the work of a pulse: finds cancelled runs and lost leases; if time has passed, renews the others. */
  async checkLeases(hasTimePassed: boolean): Promise<void> {
    const leases = [...this.#runs.keys()]
    if (leases.length === 0) return
    const { executions, leases: held } = this.#process.engine
    const fences = leases.map((lease) => lease.fence)
    const named = { workerInstanceId: this.instanceId, leases: fences, leaseTtl: leaseTtlMs }
    const answers = hasTimePassed ? (await executions.renew(named)).leases : await held.check({ leases: fences })
    leases.forEach((lease, index) => {
      const answer = answers[index]!
      if (answer.kind === 'lost') lease.lose(answer.error)
      else if (answer.cancelRequested) lease.askToStop(askedToStop(lease))
    })
  }

  limit(ms: number, onLate: () => void): () => void {
    // A longer timer would fire at once.
    const timer = setTimeout(onLate, Math.min(ms, 2 ** 31 - 1))
    const limit: Limit = { at: this.#options.clock.now + ms, onLate, timer }
    this.#limits.add(limit)
    return () => {
      clearTimeout(limit.timer)
      this.#limits.delete(limit)
    }
  }

  get nextLimitAt(): number | null {
    const times = [...this.#limits].map(({ at }) => at)
    return times.length === 0 ? null : Math.min(...times)
  }

  /** Ends tries that have taken too long by the clock of the test. */
  fireLimits(): void {
    for (const limit of this.#limits) {
      if (limit.at > this.#options.clock.now) continue
      this.#limits.delete(limit)
      limit.onLate()
    }
  }

  /** Writes and receives nothing more, and drops running code. Resolves when that is certain. */
  async kill(): Promise<void> {
    this.#process.sever()
    for (const { timer } of this.#limits) clearTimeout(timer)
    this.#limits.clear()
    this.#runs.clear()
    this.#die()
    await this.#process.answered()
  }
}

function askedToStop({ fence: { executionId } }: Lease): EngineError {
  return new EngineError('execution_cancelled', `execution ${executionId} is being cancelled`, { executionId })
}
