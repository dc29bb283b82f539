// The context of one run, `ctx`: every method that leaves a record or reads from the engine. `context.ts` documents them.
import { parseDuration, type Duration } from '../model/duration.ts'
import { refusal } from '../model/errors.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import { BaseContext } from './base-context.ts'
import { bindMethods } from './bind-methods.ts'
import { Child, childOptionNames } from './child.ts'
import { inHook } from './code-mode.ts'
import type { Code } from './code.ts'
import type {
  ChildOptions,
  Context,
  StepOptions,
  StepTry,
  Upstream,
  Wait,
  WaitForOptions,
  Waitpoint,
} from './context.ts'
import { markHandled } from './mark-handled.ts'
import { makeWaitpoint } from './made-waitpoint.ts'
import { recordedNow } from './recorded-now.ts'
import { Sleep } from './sleeping.ts'
import { isTask, type Task } from './task.ts'
import { readUpstream, readUpstreams } from './upstream.ts'
import { checkWait, SignalWait } from './waiting.ts'
import { Group, type Join } from './waits.ts'

/** The methods of `Context`, without its types for values: `Code` declares them for the code. */
export class RunContext extends BaseContext implements Record<keyof Context, unknown> {
  readonly #code: Code

  static {
    bindMethods(this.prototype)
  }

  constructor(code: Code) {
    super(code)
    this.#code = code
  }

  step(name: string, work: (attempt: StepTry) => unknown, options?: StepOptions): Promise<unknown> {
    return this.#code.steps.step(name, work, options)
  }

  compensate(name: string, work: (attempt: StepTry) => unknown, options: StepOptions = {}): Promise<void> {
    if (!this.#code.canStop) return markHandled(Promise.reject(inHook('ctx.compensate')))
    return this.#code.ensureCompensations().register(name, work, options)
  }

  sleep(name: string, duration: Duration): Sleep {
    return this.#sleep(name, { dueIn: parseDuration(`the length of the sleep ${show(name)}`, duration) })
  }

  sleepUntil(name: string, time: number | Date): Sleep {
    return this.#sleep(name, { dueAt: timeOf(name, time) })
  }

  #sleep(name: string, length: Sleep['length']): Sleep {
    const code = this.#code
    code.steps.refuseInside(`the sleep ${show(name)}`)
    const call = code.history.reach('sleep', name)
    return new Sleep(call, length, code.waitDeps(call)).watchedBy(code.unawaited)
  }

  waitFor(what: string | Waitpoint, options: WaitForOptions = {}): Wait<unknown> {
    const code = this.#code
    checkWait(what, options)
    const [name, waitpointId] = typeof what === 'object' ? [what.name, what.waitpointId] : [what, null]
    const { signals } = code.task.schemas
    const schema = options.schema ?? (Object.hasOwn(signals, name) ? signals[name] : undefined)
    code.steps.refuseInside(`the wait for ${show(name)}`)
    const call = code.history.reach('wait', name)
    const given = { ...options, ...(schema !== undefined && { schema }) }
    const wait = new SignalWait(call, given, waitpointId, code.waitDeps(call))
    return wait.watchedBy(code.unawaited)
  }

  waitpoint(name: string, options: { readonly expiresIn?: Duration } = {}): Promise<Waitpoint> {
    return markHandled(makeWaitpoint(this.#code, name, options))
  }

  run(task: Task, input?: unknown, options?: ChildOptions): Wait<unknown> {
    const child = this.#child('run', task, input, options)
    return child.watchedBy(this.#code.unawaited)
  }

  // A spawned child need not be awaited.
  spawn(task: Task, input?: unknown, options?: ChildOptions) {
    return markHandled(this.#spawn(task, input, options))
  }

  async #spawn(task: Task, input?: unknown, options?: ChildOptions) {
    const child = this.#child('spawn', task, input, options)
    return { id: await child.created(), result: () => child }
  }

  #child(method: 'run' | 'spawn', task: Task, input: unknown, options: ChildOptions = {}): Child {
    const code = this.#code
    if (!isTask(task)) throw refusal('invalid_input', 'the task of a child', show(task), 'what task() returned')
    refuseUnknownFields(`ctx.${method}`, options, childOptionNames)
    code.steps.refuseInside(`the child ${show(task.name)}`)
    const call = code.history.reach('child', options.name ?? task.name)
    // The code of `ctx.run` receives nothing when the child is created.
    if (method === 'run' && call.made !== null) code.history.delivered(call.made)
    const deps = { ...code.waitDeps(call), steps: code.steps }
    return new Child(call, task, input, options, deps)
  }

  upstream(what: Task | string): Promise<unknown> {
    const name = isTask(what) ? what.name : what
    return this.#code.idle.ask(() => readUpstream(this.#code.holder, name))
  }

  upstreams(): Promise<readonly Upstream[]> {
    return this.#code.idle.ask(() => readUpstreams(this.#code.holder))
  }

  all(waits: readonly unknown[]): Wait<unknown> {
    return this.#group('all', waits)
  }

  any(waits: readonly unknown[]): Wait<unknown> {
    return this.#group('any', waits)
  }

  race(waits: readonly unknown[]): Wait<unknown> {
    return this.#group('race', waits)
  }

  #group(join: Join, waits: readonly unknown[]): Wait<unknown> {
    const what = `the argument of ctx.${join}`
    if (!Array.isArray(waits)) throw refusal('invalid_input', what, show(waits), 'a list of waits')
    if (join === 'race' && waits.length === 0) {
      throw refusal('invalid_input', what, 'an empty list', 'at least one wait, or the race never ends')
    }
    const group = new Group(join, waits, (wait) => this.#code.idle.await(wait))
    return group.watchedBy(this.#code.unawaited)
  }

  progress(percent: number, message?: string): Promise<void> {
    const { holder, idle } = this.#code
    const request = { ...holder.fence, percent, ...(message !== undefined && { message }) }
    return idle.ask(async () => {
      await holder.retryWhileLeased(() => holder.engine.executions.progress(request))
    })
  }

  now(): Promise<number> {
    return markHandled(recordedNow(this.#code))
  }
}

// A Date of another realm has a class of its own.
function timeOf(name: string, time: number | Date): number {
  const at = typeof time === 'object' && time !== null && 'getTime' in time ? time.getTime() : time
  if (Number.isSafeInteger(at) && at >= 0) return at
  const found = typeof time === 'object' && Number.isNaN(at) ? 'an invalid Date' : show(time)
  throw refusal('invalid_input', `the end of the sleep ${show(name)}`, found, 'a Date, or milliseconds since 1970')
}
