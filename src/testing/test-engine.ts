// An engine for tests of durable code: an embedded database of its own, a clock that stands still until the test moves it, and a
// worker that runs what is ready whenever the test does something. Nothing waits for real time, and a test gives the same
// history every time.
import type { FlowFabric } from '../connect/flowfabric.ts'
import type { Handle } from '../connect/handle.ts'
import { hold } from '../connect/hold.ts'
import type { SignalResult } from '../engine/signal/incoming.ts'
import type { Duration } from '../model/duration.ts'
import { refusal } from '../model/errors.ts'
import { checkCodec, jsonCodec, type Codec } from '../model/codec.ts'
import { openEngine } from '../engine/engine.ts'
import { registerTasks } from '../engine/task/register.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { loggerOf, silent, type LoggerOption } from '../model/logger.ts'
import type { Context } from '../worker/context.ts'
import type { Middleware } from '../worker/middleware.ts'
import { Served } from '../worker/serve.ts'
import { registeredTaskOf, type SubmitOptions } from '../worker/submission.ts'
import type { Signals, Task } from '../worker/task.ts'
import { checkUnawaited, type UnawaitedMode } from '../worker/unawaited.ts'
import { giveDatabaseBack, takeDatabase } from './database.ts'
import { Mocks, type MockedWork } from './mocks.ts'
import type { RunHistory } from './run-history.ts'
import { Stage } from './stage.ts'
import { testEngineOn } from './test-engine-on.ts'
import { TestWorker } from './test-worker.ts'
import { VirtualClock } from './virtual-clock.ts'

// oxlint-disable-next-line typescript/no-explicit-any
type AnyTask = Task<any, any, any>

export interface TestEngineOptions {
  readonly tasks: readonly AnyTask[]
  /** What the clock shows at first; left out: now. It stands still until the test moves it. */
  readonly now?: Date | number | string
  /** Left out: those of the tasks. */
  readonly lanes?: readonly string[]
  readonly capabilities?: readonly string[]
  readonly middleware?: readonly Middleware[]
  readonly codec?: Codec
  /** As the option of a worker; left out: `fail`. */
  readonly unawaited?: UnawaitedMode
  /** Left out: silent. */
  readonly logger?: LoggerOption
}

type Given<In> = undefined extends In ? [input?: In, options?: SubmitOptions] : [input: In, options?: SubmitOptions]

/** A run as the test holds it: what it is asked to do is done, and everything that follows from it, before it answers. */
export interface TestRun<Output = unknown, S extends Signals = Signals> extends Handle<Output, S> {
  /** What it gives, or as `result()` of any handle throws; throws `wait_timed_out` and says why when it has not ended. */
  result(): Promise<Output>
  /** What it has recorded, and what happened to it. */
  history(): Promise<RunHistory>
}

export interface TestEngine extends AsyncDisposable {
  /** Everything else: flows, schedules, `explain`, the engine itself. Follow what you do there by `settle`. */
  readonly ff: FlowFabric
  /** What the clock shows, in milliseconds since 1970. */
  readonly now: number
  /** Runs a task to its end, and moves the time as far as that takes. Gives its result, or throws as `result()` does. */
  run<In, Out, S extends Signals>(task: Task<In, Out, S>, ...given: Given<In>): Promise<Out>
  /** Submits a task and runs it as far as it goes without time or anybody else. */
  submit<In, Out, S extends Signals>(task: Task<In, Out, S>, ...given: Given<In>): Promise<TestRun<Out, S>>
  signal<Out, S extends Signals, Name extends string & keyof S>(
    run: Handle<Out, S>,
    name: Name,
    ...payload: undefined extends S[Name] ? [payload?: S[Name]] : [payload: S[Name]]
  ): Promise<SignalResult>
  /** Lets time pass: sleeps, retries, timeouts and schedules happen at their moments, one after the other. */
  advance(duration: Duration): Promise<void>
  /** Runs whatever is ready; needed only after something that was done through `ff`. */
  settle(): Promise<void>
  /** In place of a step's work: a value, an error to be thrown, or a function, which is given the original. */
  mock<Value>(task: AnyTask, step: string, mock: Value | Error | MockedWork<Value>): void
  /** The same for one try, in the order of the calls; before what `mock` says. */
  mockOnce<Value>(task: AnyTask, step: string, mock: Value | Error | MockedWork<Value>): void
  /** In place of a task's code: for a child, or for what belongs to somebody else. */
  mockTask<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    handler: (ctx: Context<S>, input: In) => Promise<Out> | Out,
  ): void
  /**
   * Kills the worker as SIGKILL would: what runs is dropped where it stands and its lease runs out; the next worker takes over.
   * May be called inside a step, which then gets no further.
   */
  crashWorker(): Promise<void>
  close(): Promise<void>
}

const optionNames = [
  'tasks',
  'now',
  'lanes',
  'capabilities',
  'unawaited',
  'middleware',
  'codec',
  'logger',
] as const satisfies readonly (keyof TestEngineOptions)[]

/**
 * Opens an engine for a test.
 *
 * @example
 * await using t = await testEngine({ tasks: [onboard] })
 * const run = await t.submit(onboard, { email: 'ada@example.com' })
 * await t.advance('10m')
 * await t.signal(run, 'approval', { approved: true })
 * assert.deepEqual(await run.result(), { welcomed: true })
 */
export async function testEngine(options: TestEngineOptions): Promise<TestEngine> {
  refuseUnknownFields('testEngine', options, optionNames)
  const { tasks, codec = jsonCodec, middleware = [], lanes, capabilities, unawaited = 'fail' } = options
  const startsAt = timeOf(options.now)
  const logger = loggerOf(options.logger, silent)
  checkCodec(codec)
  // Bad tasks are refused before anything is opened.
  void new Served(tasks)
  const mocks = new Mocks(tasks as readonly Task[])
  const sql = await takeDatabase()
  const clock = await VirtualClock.standingAt(sql, startsAt)
  await registerTasks(
    sql,
    'test',
    tasks.map((task) => registeredTaskOf(task as Task)),
  )
  const opened = openEngine(sql)
  const { engine } = opened
  const makeWorker = (): TestWorker =>
    new TestWorker({
      engine,
      clock,
      tasks: tasks as readonly Task[],
      mocks,
      codec,
      logger,
      middleware,
      lanes,
      capabilities,
      unawaited: checkUnawaited(unawaited),
    })
  const stage = new Stage(sql, opened, clock, makeWorker)
  let hasEnded = false
  // What the test started by `ff` is stopped with it, so that nothing is under way on a database that is used again.
  const letGo = (withinMs: number): Promise<void> => (hasEnded ? giveDatabaseBack(sql) : sql.close(withinMs))
  const ff = hold({ sql, opened, codec, logger, letGo })
  const close = async (): Promise<void> => {
    await stage.end()
    hasEnded = true
    await ff.close()
  }
  return testEngineOn({ ff, codec, clock, stage, mocks, close })
}

function timeOf(given: TestEngineOptions['now']): number {
  const time = given === undefined ? Date.now() : new Date(given).getTime()
  if (Number.isSafeInteger(time) && time >= 0) return time
  throw refusal('invalid_input', 'now', show(given), 'a Date, its text, or milliseconds since 1970')
}
