// `ff`: what a user can do with a database, or with a server in front of it.
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

/** The options of `ff.worker`: those of a worker, and the duties. */
export interface WorkOptions extends WorkerOptions {
  /** Runs a supervisor in this process, as `supervise` does; false: another process does. */
  readonly duties?: boolean | SuperviseOptions
}

export interface Health {
  /** Changes nothing; safe on a database that is in use. */
  check(request?: CheckHealthRequest): Promise<HealthReport>
  /** Repairs what can be repaired without harm, and returns the repairs. */
  repair(): Promise<readonly Repair[]>
}

export interface FlowFabric extends AsyncDisposable {
  readonly engine: Engine
  /** Executions that are created at set times; fired by the processes that supervise. */
  readonly schedules: UserSchedules
  /**
   * Why an execution is not running, in a sentence, with the facts behind it; or how it ended. Null when it does not exist.
   *
   * @example
   * console.log((await ff.explain(executionId))?.sentence)
   */
  explain(executionId: string): Promise<Explanation | null>
  /**
   * Submit, signal and cancel inside a Postgres transaction of your own. Pass the client of `pg` that has the
   * transaction, or the transaction of Drizzle or Kysely. Everything takes effect with your commit; a rollback leaves
   * nothing. Await each call before you send other statements.
   *
   * @example
   * await client.query('begin')
   * await client.query('insert into orders (id) values ($1)', [7])
   * await ff.within(client).submit(shipOrder, { orderId: 7 })
   * await client.query('commit')
   */
  within(client: TransactionClient): UserWithin
  /** Submits one run of a task. The handle returns its result and state. */
  submit<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    ...given: undefined extends In ? [input?: In, options?: SubmitOptions] : [input: In, options?: SubmitOptions]
  ): Promise<Handle<Out, S>>
  /**
   * Submits many runs in one call. The results are in the order of the inputs. An invalid one is refused in its place,
   * and the others are accepted.
   */
  submitMany<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    items: readonly { readonly input: In; readonly options?: SubmitOptions }[],
  ): Promise<(Handle<Out, S> | EngineError)[]>
  /** The handle of an execution that was submitted before, by its id. */
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
  /** A worker that runs tasks. Start it with `start`; `close` stops it. */
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
   * Runs the background duties: promotes delayed executions, reclaims those of crashed workers, enforces deadlines,
   * deletes old rows. One process of a fleet runs each duty at a time, so every process may supervise. `close` stops
   * it.
   */
  supervise(options?: SuperviseOptions): Supervisor
  /**
   * Writes the URL at which this process serves into the lock of an embedded directory, so that other processes connect
   * there; null removes it. On Postgres it does nothing. Over HTTP it is refused, because that process has no directory
   * open.
   */
  announce(url: string | null): Promise<void>
  /** Checks and repairs of the database, for operators; `flowfabric doctor` prints the findings. */
  readonly health: Health
  /** Refuses new calls, lets accepted calls finish for at most ten seconds, then aborts the rest. */
  close(): Promise<void>
}
