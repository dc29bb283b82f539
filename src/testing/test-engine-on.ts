// The methods of a test engine, on a stage.
import type { FlowFabric } from '../connect/flowfabric.ts'
import type { Handle } from '../connect/handle.ts'
import type { Codec } from '../model/codec.ts'
import { parseDuration, type Duration } from '../model/duration.ts'
import { EngineError } from '../model/errors.ts'
import type { SubmitOptions } from '../worker/submission.ts'
import type { Task } from '../worker/task.ts'
import type { Mocks, StepMock } from './mocks.ts'
import { readHistory } from './run-history.ts'
import type { Stage } from './stage.ts'
import type { TestEngine, TestRun } from './test-engine.ts'
import type { VirtualClock } from './virtual-clock.ts'

interface TestEngineParts {
  readonly ff: FlowFabric
  readonly codec: Codec
  readonly clock: VirtualClock
  readonly stage: Stage
  readonly mocks: Mocks
  readonly close: () => Promise<void>
}

// How far `run` moves the time: an execution that has not ended by then waits for something else.
const longestRunMs = 400 * 24 * 3_600_000

export function testEngineOn({ ff, codec, clock, stage, mocks, close }: TestEngineParts): TestEngine {
  const { engine } = ff
  let closing: Promise<void> | undefined

  const submit = async (task: Task, input?: unknown, options: SubmitOptions = {}): Promise<Handle> => {
    const handle = await ff.submit(task, input, options)
    await stage.settle()
    return handle
  }
  const testRun = (handle: Handle): TestRun => ({
    ...handle,
    async result() {
      await stage.settle()
      return resultOf(handle)
    },
    async signal(...given) {
      const answer = await handle.signal(...given)
      await stage.settle()
      return answer
    },
    async cancel(...given) {
      const answer = await handle.cancel(...given)
      await stage.settle()
      return answer
    },
    history: () => readHistory(engine, codec, handle.id),
  })
  const resultOf = async (handle: Handle): Promise<unknown> => {
    try {
      const result = await handle.result({ timeout: 0 })
      mocks.refuseUnused()
      return result
    } catch (error) {
      if (!EngineError.is(error, 'wait_timed_out')) mocks.refuseUnused()
      throw EngineError.is(error, 'wait_timed_out') ? await notEnded(handle) : error
    }
  }
  const notEnded = async ({ id }: Handle): Promise<EngineError> => {
    const why = (await ff.explain(id))?.sentence ?? `execution ${id} has not ended`
    const sentence = `${why} Advance the time with t.advance, or send a signal with t.signal.`
    return new EngineError('wait_timed_out', sentence, { executionId: id })
  }
  const hasEnded = async ({ id }: Handle): Promise<boolean> => (await engine.executions.result(id))?.kind !== 'pending'

  const held = {
    ff,
    get now() {
      return clock.now
    },
    async run(task: Task, ...given: [unknown?, SubmitOptions?]) {
      mocks.refuseUnknownTask(task)
      const run = await submit(task, ...given)
      const until = clock.now + longestRunMs
      while (!(await hasEnded(run)) && (await stage.skip(until)));
      return resultOf(run)
    },
    submit: async (task: Task, ...given: [unknown?, SubmitOptions?]) => testRun(await submit(task, ...given)),
    signal: async (run: Handle, name: string, payload?: unknown) => {
      const answer = await run.signal(name, payload)
      await stage.settle()
      return answer
    },
    advance: (duration: Duration) => stage.advanceTo(clock.now + parseDuration('advance', duration)),
    settle: () => stage.settle(),
    mock: (task: Task, step: string, mock: StepMock) => mocks.mock(task, step, mock, 'always'),
    mockOnce: (task: Task, step: string, mock: StepMock) => mocks.mock(task, step, mock, 'once'),
    mockTask: (task: Task, handler: Task['handler']) => mocks.mockTask(task, handler),
    crashWorker: () => stage.kill(),
    close: () => (closing ??= close()),
    [Symbol.asyncDispose]: () => (closing ??= close()),
  }
  // The run has the types of one task; at run time they do not exist.
  return held as unknown as TestEngine
}
