// The context of a run inside its thread: a proxy over a message port. The worker holds the lease, so it runs every method that leaves a
// record or reads from the engine. The functions and schemas of steps stay in the thread; the worker calls them over the port.
import { inspect } from 'node:util'
import type { Claim } from '../../engine/execution/claim.ts'
import type { Logger, LogLevel } from '../../model/logger.ts'
import type { RecordedError } from '../../model/recorded-error.ts'
import { show } from '../../model/text.ts'
import { BaseContext, type ContextOwner } from '../base-context.ts'
import { bindMethods } from '../bind-methods.ts'
import type { Context, StepOptions, StepTry } from '../context.ts'
import { PermanentError } from '../errors.ts'
import { enterStep, insideStep, recordedWhole, refuseInside, type InsideStep } from '../inside-step.ts'
import { markHandled } from '../mark-handled.ts'
import { leftBy, type RequestedExit } from '../run-exit.ts'
import { isTask } from '../task.ts'
import { StepPromise, Unawaited } from '../unawaited.ts'
import type { Functions, PortCalls } from './port-calls.ts'
import { deserializeError } from './serialize-error.ts'

interface OpenStep {
  readonly name: string
  readonly work: (attempt: StepTry) => unknown
  readonly schema: StepOptions['schema']
  tooLate: AbortController | null
}

/** The state of a run in its thread. */
export class ThreadRun implements ContextOwner {
  readonly claim: Claim
  readonly logger: Logger
  readonly context: Context
  readonly unawaited = new Unawaited()
  /** How the code ended its run itself; null: it has not. */
  exit: RequestedExit | null = null
  readonly #calls: PortCalls
  readonly #abort = new AbortController()
  readonly #steps = new Map<number, OpenStep>()
  #stepCount = 0

  constructor(claim: Claim, calls: PortCalls) {
    this.claim = claim
    this.#calls = calls
    const log = (level: LogLevel) => (message: string, fields?: object) =>
      void calls.call('log', level, message, cloneable(fields), this.inside?.name)
    this.logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
    this.context = contextOver(this)
  }

  /** The functions that the worker may call. */
  readonly functions: Functions = {
    stop: (reason: RecordedError) => this.#abort.abort(deserializeError(reason)),
    work: (id: number, attempt: Omit<StepTry, 'signal'>) => this.#work(this.#steps.get(id)!, attempt),
    giveUp: (id: number, reason: RecordedError) => this.#steps.get(id)?.tooLate?.abort(deserializeError(reason)),
    check: async (id: number, value: unknown) => {
      const checked = await this.#steps.get(id)!.schema!['~standard'].validate(value)
      if (checked.issues === undefined) return { value: checked.value }
      const plain = (part: unknown): string =>
        String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part)
      return { issues: checked.issues.map(({ message, path }) => ({ message, path: (path ?? []).map(plain) })) }
    },
  }

  async #work(step: OpenStep, { idempotencyKey, tryCount }: Omit<StepTry, 'signal'>): Promise<unknown> {
    step.tooLate = new AbortController()
    await this.#calls.call('held')
    const signal = AbortSignal.any([this.#abort.signal, step.tooLate.signal])
    return enterStep(this, step.name, { idempotencyKey }, () => step.work({ signal, idempotencyKey, tryCount }))
  }

  async step(name: string, work: OpenStep['work'], options: StepOptions): Promise<unknown> {
    refuseInside(this, `the step ${show(name)}`, recordedWhole)
    const id = (this.#stepCount += 1)
    const { schema, ...others } = options
    this.#steps.set(id, { name, work, schema, tooLate: null })
    try {
      return await this.#calls.call('step', id, name, others, schema !== undefined)
    } finally {
      this.#steps.delete(id)
    }
  }

  /** Calls a method of the context in the worker. It accepts the name of a task in place of the task. */
  forward(method: string, args: readonly unknown[]): Promise<unknown> {
    return this.#calls.call(method, ...args.map((arg) => (isTask(arg) ? arg.name : arg)))
  }

  get abort(): AbortSignal {
    return this.#abort.signal
  }

  get inside(): InsideStep | undefined {
    return insideStep(this)
  }

  exitBy(exit: RequestedExit): never {
    this.exit ??= exit
    throw leftBy(exit)
  }
}

/** The methods that run in the thread. */
class LocalContext extends BaseContext {
  readonly #run: ThreadRun

  static {
    bindMethods(this.prototype)
  }

  constructor(run: ThreadRun) {
    super(run)
    this.#run = run
  }

  step(name: string, work: OpenStep['work'], options: StepOptions = {}): Promise<unknown> {
    return StepPromise.of(this.#run.unawaited, name, null, this.#run.step(name, work, options))
  }
}

/** All other methods. The compiler refuses a method of `Context` that is missing here. */
const remoteMethods: Readonly<Record<Exclude<keyof Context, keyof LocalContext>, RemoteKind>> = {
  progress: 'forwarded',
  upstream: 'forwarded',
  upstreams: 'forwarded',
  now: 'recorded',
  compensate: 'refused',
  sleep: 'refused',
  sleepUntil: 'refused',
  waitFor: 'refused',
  waitpoint: 'refused',
  run: 'refused',
  spawn: 'rejected',
  all: 'refused',
  any: 'refused',
  race: 'refused',
}

type RemoteMethod = keyof typeof remoteMethods
type RemoteKind = 'forwarded' | 'recorded' | 'refused' | 'rejected'

const remoteKinds: Readonly<Record<RemoteKind, (run: ThreadRun, method: string, args: unknown[]) => unknown>> = {
  forwarded: (run, method, args) => run.forward(method, args),
  /** Not inside a step, which is a record itself. The worker cannot see that the call comes from a step. */
  recorded: (run, method, args) => {
    const outsideSteps = async (): Promise<unknown> => {
      refuseInside(run, `ctx.${method}()`, recordedWhole)
      return run.forward(method, args)
    }
    return markHandled(outsideSteps())
  },
  /** A wait gives up the worker, and with it the thread and all that it has computed. */
  refused: (_, method) => {
    throw notInThread(method)
  },
  rejected: (_, method) => markHandled(Promise.reject(notInThread(method))),
}

/** The methods that the worker runs for the thread. */
export const forwardedMethods: readonly RemoteMethod[] = Object.keys(remoteMethods)
  .map((method) => method as RemoteMethod)
  .filter((method) => remoteMethods[method] === 'forwarded' || remoteMethods[method] === 'recorded')

function contextOver(run: ThreadRun): Context {
  return new Proxy(new LocalContext(run), {
    get(local, key) {
      if (!Object.hasOwn(remoteMethods, key)) return Reflect.get(local, key) as unknown
      const method = key as RemoteMethod
      return (...args: unknown[]) => remoteKinds[remoteMethods[method]](run, method, args)
    },
  }) as unknown as Context
}

function notInThread(method: string): PermanentError {
  return new PermanentError(
    `ctx.${method} cannot be used in a thread, which computes and does not wait; wait in a task without a thread, and run this one as its child`,
  )
}

// Fields may hold functions, which no message can carry.
function cloneable(fields: object | undefined): object | undefined {
  try {
    return structuredClone(fields)
  } catch {
    return { fields: inspect(fields) }
  }
}
