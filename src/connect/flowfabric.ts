// What a user holds of a database, or of the server before it.
import type { Engine } from '../engine/contract.ts'
import type { CheckHealthRequest, HealthReport } from '../engine/health/check.ts'
import type { Repair } from '../engine/health/repair.ts'
import type { SuperviseOptions, Supervisor } from '../engine/duties/supervisor.ts'
import type { EngineError } from '../model/errors.ts'
import type { Explanation } from '../model/explain.ts'
import type { TransactionClient } from '../sql/borrowed-client.ts'
import type { RecordedRun } from '../worker/recorded-run.ts'
import type { SubmitOptions } from '../worker/submission.ts'
import type { Signals, Task } from '../worker/task.ts'
import type { VerifyOptions, VerifyReport } from '../worker/verify.ts'
import type { WorkerOptions } from '../worker/options.ts'
import type { Worker } from '../worker/worker.ts'
import type { BuildFlow } from './flow-builder.ts'
import type { FlowHandle, FlowOptions } from './flow.ts'
import type { Handle } from './handle.ts'
import type { UserSchedules } from './schedules.ts'
import type { UserWithin } from './within.ts'

/** What `ff.worker` takes besides what a worker does. */
export interface WorkOptions extends WorkerOptions {
  /** Runs a supervisor beside it, as `supervise` does; false: somebody else does. */
  readonly duties?: boolean | SuperviseOptions
}

export interface Health {
  /** Looks and changes nothing; safe on a database that is in use. */
  check(request?: CheckHealthRequest): Promise<HealthReport>
  /** Mends what can be mended without harm, and says what it did. */
  repair(): Promise<readonly Repair[]>
}

export interface FlowFabric extends AsyncDisposable {
  readonly engine: Engine
  /** What runs at its times without anybody's call; fired by whoever supervises. */
  readonly schedules: UserSchedules
  /**
   * Why an execution is not running, in a sentence, with the facts behind it; or how it ended. Null when it does not exist.
   *
   * @example
   * console.log((await ff.explain(executionId))?.sentence)
   */
  explain(executionId: string): Promise<Explanation | null>
  /**
   * Submit, signal and cancel inside a Postgres transaction of your own: given the client of `pg` that has it, or the
   * transaction of Drizzle or Kysely. Everything comes with your commit; a rollback leaves nothing. Await each call before
   * you send other statements.
   *
   * @example
   * await client.query('begin')
   * await client.query('insert into orders (id) values ($1)', [7])
   * await ff.within(client).submit(shipOrder, { orderId: 7 })
   * await client.query('commit')
   */
  within(client: TransactionClient): UserWithin
  /** Accepts one run of a task; its handle tells what becomes of it. */
  submit<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    ...given: undefined extends In ? [input?: In, options?: SubmitOptions] : [input: In, options?: SubmitOptions]
  ): Promise<Handle<Out, S>>
  /** Accepts many in one call. Answers in order; a bad one is refused in its place and holds up none of the others. */
  submitMany<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    items: readonly { readonly input: In; readonly options?: SubmitOptions }[],
  ): Promise<(Handle<Out, S> | EngineError)[]>
  /** What was submitted before, by its id. */
  handle<Out = unknown, S extends Signals = Signals>(id: string, task?: Task<never, Out, S>): Handle<Out, S>
  /**
   * Replays recorded runs (`export` of a handle) against the code of a task, without any effect, and reports where the code no
   * longer takes the recorded path.
   */
  verify(
    // oxlint-disable-next-line typescript/no-explicit-any
    task: Task<any, any, any>,
    runs: readonly RecordedRun[],
    options?: Omit<VerifyOptions, 'codec'>,
  ): Promise<VerifyReport>
  /** Runs tasks. Not started yet; stopped by `close`, or before. */
  worker(options: WorkOptions): Worker
  /**
   * Submits a whole graph at once: all of it is accepted, or nothing.
   *
   * @example
   * const run = await ff.flow((f) => {
   *   const [image, report] = [f.add(build, { commit }), f.add(test, { commit })]
   *   return f.after([image, report], f.add(deploy, { to: 'production' }))
   * })
   * const address = await run.result()
   */
  flow<Out>(build: BuildFlow<Out>, options?: FlowOptions): Promise<FlowHandle<Out>>
  /**
   * Runs what time breaks without anybody's call: promotes what is due, gives back what a crashed worker held, fires
   * deadlines, forgets what is too old. One process of a fleet does each duty at a time, so every process may run it.
   * Stopped by `close`, or before.
   */
  supervise(options?: SuperviseOptions): Supervisor
  /**
   * Says in the lock of an embedded directory where this process serves, so that others connect there instead; null: no more.
   * On Postgres it does nothing; over HTTP it is refused, for that process has no directory open.
   */
  announce(url: string | null): Promise<void>
  /** The database itself, for whoever looks after it; `flowfabric doctor` prints what it finds. */
  readonly health: Health
  /** Lets what was accepted before finish, for at most ten seconds, then cuts it off; refuses what comes after. */
  close(): Promise<void>
}
