// Replacements for the work of a step, or for the code of a task. The step itself is real: it is tried, recorded,
// checked by its schema and read back as always.
import { EngineError, refusal } from '../model/errors.ts'
import { checkStepName } from '../model/step.ts'
import { nearest, show } from '../model/text.ts'
import type { Context, StepOptions, StepTry } from '../worker/context.ts'
import { isTask, type Task } from '../worker/task.ts'

type StepFunction = (attempt: StepTry) => unknown

/** A value to return, an error to throw, or a function that receives the step's own work. */
export type StepMock = unknown

export type MockedWork<Value = unknown> = (attempt: StepTry, original: () => unknown) => Value

interface Mocked {
  readonly once: StepMock[]
  always: { readonly mock: StepMock } | null
  isReached: boolean
}

/** Notified when the work of a step begins and ends. */
export interface Watching {
  begin(): void
  end(): void
}

export class Mocks {
  readonly #tasks: ReadonlyMap<string, Task>
  readonly #steps = new Map<string, Map<string, Mocked>>()
  readonly #code = new Map<string, Task['handler']>()
  /** The step names that the code has reached, by task. */
  readonly #reached = new Map<string, Set<string>>()

  constructor(tasks: readonly Task[]) {
    this.#tasks = new Map(tasks.map((task) => [task.name, task]))
  }

  mock(task: Task, step: string, mock: StepMock, often: 'once' | 'always'): void {
    this.refuseUnknownTask(task)
    const mocked = this.#mockedOf(task.name, checkStepName('the name of a step', step))
    if (often === 'once') mocked.once.push(mock)
    else mocked.always = { mock }
  }

  mockTask(task: Task, handler: Task['handler']): void {
    this.refuseUnknownTask(task)
    this.#code.set(task.name, handler)
  }

  /** The task with its mocks; `watching` is notified of the work of its steps. */
  over(task: Task, watching: Watching): Task {
    const handler = (ctx: Context, input: unknown): unknown => {
      const code = (this.#code.get(task.name) ?? task.handler) as unknown as (ctx: Context, input: unknown) => unknown
      return code(this.#contextOver(task.name, ctx, watching), input)
    }
    return { ...task, handler, hooks: this.#hooksOver(task, watching) }
  }

  #hooksOver(task: Task, watching: Watching): Task['hooks'] {
    const hooks = Object.entries(task.hooks).map(([name, hook]) => {
      const call = hook as (ctx: Context, ...given: unknown[]) => unknown
      const over = (ctx: Context, ...given: unknown[]): unknown =>
        call(this.#contextOver(task.name, ctx, watching), ...given)
      return [name, over]
    })
    return Object.fromEntries(hooks) as Task['hooks']
  }

  /**
   * A mock for a step that no code has reached and that the task's own text does not contain is a mistake, and would go
   * unnoticed.
   */
  refuseUnused(): void {
    for (const [taskName, steps] of this.#steps) {
      const reached = [...(this.#reached.get(taskName) ?? [])]
      if (reached.length === 0) continue
      for (const [step, { isReached }] of steps) {
        if (isReached || String(this.#tasks.get(taskName)?.handler).includes(step)) continue
        throw unknownStep(taskName, step, reached)
      }
    }
  }

  #contextOver(task: string, ctx: Context, watching: Watching): Context {
    const reached = this.#reached.get(task) ?? new Set()
    this.#reached.set(task, reached)
    const watched = (name: string, work: StepFunction): StepFunction => {
      reached.add(name)
      if (typeof work !== 'function') return work
      return async (attempt) => {
        watching.begin()
        try {
          return await this.#work(task, name, work, attempt)
        } finally {
          watching.end()
        }
      }
    }
    const over: Readonly<Record<PropertyKey, unknown>> = {
      step: (name: string, work: StepFunction, options?: StepOptions) => ctx.step(name, watched(name, work), options),
      compensate: (name: string, work: StepFunction, options?: StepOptions) =>
        ctx.compensate(name, watched(name, work), options),
    }
    return new Proxy(ctx, {
      get: (target, key) => over[key] ?? (Reflect.get(target, key) as unknown),
    })
  }

  async #work(task: string, name: string, work: StepFunction, attempt: StepTry): Promise<unknown> {
    const mocked = this.#steps.get(task)?.get(name)
    if (mocked === undefined) return work(attempt)
    mocked.isReached = true
    const chosen = mocked.once.length > 0 ? { mock: mocked.once.shift() } : mocked.always
    if (chosen === null) return work(attempt)
    const { mock } = chosen
    if (mock instanceof Error) throw mock
    return typeof mock === 'function' ? (mock as MockedWork)(attempt, () => work(attempt)) : mock
  }

  #mockedOf(task: string, step: string): Mocked {
    const steps = this.#steps.get(task) ?? new Map<string, Mocked>()
    this.#steps.set(task, steps)
    const mocked = steps.get(step) ?? { once: [], always: null, isReached: false }
    steps.set(step, mocked)
    return mocked
  }

  refuseUnknownTask(task: Task): void {
    if (!isTask(task)) throw refusal('invalid_input', 'the task', show(task), 'what task() returned')
    const { name } = task
    if (this.#tasks.has(name)) return
    const names = [...this.#tasks.keys()]
    const hint = nearest(name, names)
    const next = hint === undefined ? `it runs ${names.map(show).join(', ')}` : `did you mean ${show(hint)}?`
    throw new EngineError('invalid_input', `the test engine does not run a task ${show(name)}; ${next}`, { task: name })
  }
}

function unknownStep(task: string, step: string, reached: readonly string[]): EngineError {
  const hint = nearest(step, reached)
  const next = hint === undefined ? `it reached ${reached.map(show).join(', ')}` : `did you mean ${show(hint)}?`
  const sentence = `task ${show(task)} did not reach the mocked step ${show(step)}; ${next}`
  return new EngineError('invalid_input', sentence, { task, step, met: reached })
}
