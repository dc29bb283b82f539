// An engine for tests of durable code: an embedded database of its own, a clock that moves only when the test moves it,
// and a worker that runs ready executions after each call of the test. Nothing waits for real time, and a test has the
// same history every time.
import type { FlowFabric } from '../connect/flowfabric.ts'
import type { Handle } from '../connect/handle.ts'
import { hold } from '../connect/hold.ts'
import type { SignalResult } from '../engine/waiting/signal/incoming.ts'
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
import { ServedTasks } from '../worker/serve.ts'
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
  /** Where the clock starts (default: now). It does not move until the test moves it. */
  readonly now?: Date | number | string
  /** Defaults to the lanes of the tasks. */
  readonly lanes?: readonly string[]
  readonly capabilities?: readonly string[]
  readonly middleware?: readonly Middleware[]
  readonly codec?: Codec
  /** As the option of a worker; defaults to `fail`. */
  readonly unawaited?: UnawaitedMode
  /** Defaults to no logging. */
  readonly logger?: LoggerOption
}

type SubmitArguments<In> = undefined extends In
  ? [input?: In, options?: SubmitOptions]
  : [input: In, options?: SubmitOptions]

/** A run in a test: each call is performed, with all its consequences, before it returns. */
export interface TestRun<Output = unknown, S extends Signals = Signals> extends Handle<Output, S> {
  /** Returns the result, or throws as `result()` of any handle does. Throws `wait_timed_out` with the reason if it has not ended. */
  result(): Promise<Output>
  /** Its records and events. */
  history(): Promise<RunHistory>
}

export interface TestEngine extends AsyncDisposable {
  /** Everything else: flows, schedules, `explain`, the engine itself. Call `settle` after you used it. */
  readonly ff: FlowFabric
  /** The time of the clock, in milliseconds since 1970. */
  readonly now: number
  /** Runs a task to its end and advances the time as far as needed. Returns its result, or throws as `result()` does. */
  run<In, Out, S extends Signals>(task: Task<In, Out, S>, ...given: SubmitArguments<In>): Promise<Out>
  /** Submits a task and runs it until it ends, or waits for time to pass or for a signal. */
  submit<In, Out, S extends Signals>(task: Task<In, Out, S>, ...given: SubmitArguments<In>): Promise<TestRun<Out, S>>
  signal<Out, S extends Signals, Name extends string & keyof S>(
    run: Handle<Out, S>,
    name: Name,
    ...payload: undefined extends S[Name] ? [payload?: S[Name]] : [payload: S[Name]]
  ): Promise<SignalResult>
  /** Advances the time. Sleeps, retries, timeouts and schedules happen at their due times, one after the other. */
  advance(duration: Duration): Promise<void>
  /** Runs everything that is ready. Needed only after you used `ff` directly. */
  settle(): Promise<void>
  /** Replaces a step's work: by a value, an error to throw, or a function that receives the original work. */
  mock<Value>(task: AnyTask, step: string, mock: Value | Error | MockedWork<Value>): void
  /** The same for one try, in the order of the calls. Takes precedence over `mock`. */
  mockOnce<Value>(task: AnyTask, step: string, mock: Value | Error | MockedWork<Value>): void
  /** Replaces a task's code, for example that of a child or of another team's task. */
  mockTask<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    handler: (ctx: Context<S>, input: In) => Promise<Out> | Out,
  ): void
  /**
   * Kills the worker as SIGKILL would: running code stops where it is, its leases expire, and the next worker takes over. May be
   * called inside a step, which then does not continue.
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
  // Invalid tasks are refused before anything is opened.
  void new ServedTasks(tasks)
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
  // Closing the test engine also stops what the test started through `ff`, so that no call is under way on a database
  // that is reused.
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
