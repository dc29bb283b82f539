// Runs the executions of a test: all ready executions run, then the time may move to the next due timer, and so on. One
// operation at a time, in the order of the test's calls.
//
//   settle: run due duties ──► claim ready executions ──► their runs end or suspend ──► again, until nothing is left
//   advance: settle ──► move the clock to the next timer ──► settle ──► ... ──► move the clock to the target time
import type { OpenEngine } from '../engine/engine.ts'
import { EngineError } from '../model/errors.ts'
import { Mutex } from '../sql/mutex.ts'
import type { Sql } from '../sql/sql.ts'
import { runDueDuties, nextDueAt } from './due.ts'
import { letLapse } from './let-lapse.ts'
import { renewEveryMs, type TestWorker } from './test-worker.ts'
import type { VirtualClock } from './virtual-clock.ts'

// More runs at one time mean an endless loop in the code.
const mostRuns = 10_000

export class Stage {
  readonly #sql: Sql
  readonly #opened: OpenEngine
  readonly #clock: VirtualClock
  readonly #makeWorker: () => TestWorker
  readonly #turns = new Mutex()
  #worker: TestWorker
  #burial: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(sql: Sql, opened: OpenEngine, clock: VirtualClock, makeWorker: () => TestWorker) {
    this.#sql = sql
    this.#opened = opened
    this.#clock = clock
    this.#makeWorker = makeWorker
    this.#worker = makeWorker()
  }

  /** Runs ready executions, and those that become ready by that, until all others wait for time or a signal. */
  settle(): Promise<void> {
    return this.#turns.run(() => this.#settle())
  }

  advanceTo(until: number): Promise<void> {
    return this.#turns.run(async () => {
      await this.#settle()
      while (await this.#hop(until));
      await this.#moveTo(until)
      await this.#settle()
    })
  }

  /** Moves the time to the next due timer, at most to `until`; false when no timer is due by then. */
  skip(until: number): Promise<boolean> {
    return this.#turns.run(async () => {
      await this.#settle()
      return this.#hop(until)
    })
  }

  /** Not queued behind other operations: a running step may be the caller. */
  async kill(): Promise<void> {
    const dead = this.#worker
    const bury = async (): Promise<void> => {
      await dead.kill()
      await letLapse(this.#sql, dead.instanceId)
    }
    this.#worker = this.#makeWorker()
    this.#burial = Promise.all([this.#burial, bury()]).then(() => {})
    await this.#burial
  }

  /** Drops running code, and starts nothing more. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#worker.kill()
    await this.#burial
  }

  async #settle(): Promise<void> {
    if (this.#isOver) throw new EngineError('engine_closed', 'this test engine is closed; open another')
    for (let count = 0; count < mostRuns;) {
      await this.#burial
      await this.#worker.checkLeases(false)
      const dueCount = await runDueDuties(this.#sql, this.#clock.now)
      await this.#opened.dispatched()
      const worker = this.#worker
      const runCount = await worker.claim()
      await worker.idle()
      await this.#opened.dispatched()
      if (dueCount + runCount === 0 && worker === this.#worker) return
      count += runCount
    }
    throw new EngineError(
      'internal_error',
      `the code ran ${mostRuns} times without time passing; find the loop that never waits`,
    )
  }

  async #hop(until: number): Promise<boolean> {
    const { now } = this.#clock
    const times = [await nextDueAt(this.#sql, now), this.#worker.nextLimitAt]
    if (this.#worker.isRunning) times.push(now + renewEveryMs)
    const next = Math.min(...times.filter((time) => time !== null))
    if (next > until) return false
    await this.#moveTo(next)
    await this.#settle()
    return true
  }

  async #moveTo(time: number): Promise<void> {
    if (time <= this.#clock.now) return
    await this.#clock.moveTo(time)
    this.#worker.fireLimits()
    await this.#worker.checkLeases(true)
  }
}
