// A task: a name, the types of its input and result, its retries, and the code. A process that submits it uses the name
// and the types; a worker runs the code.
import { parseDuration, type Duration } from '../model/duration.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { checkKind, checkLane, checkVersion } from '../model/name.ts'
import { parsePolicy, type PolicyInput } from '../model/policy.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import type { Storable, Stored } from '../model/stored.ts'
import { checkSignalName } from '../model/signal.ts'
import { parseTags, type Tags } from '../model/tag.ts'
import { show } from '../model/text.ts'
import type { Context } from './context.ts'
import { refuseNonSchema, type Schema } from './schema.ts'
import { moduleOf } from './thread/module.ts'

/** The signals that a run accepts, by name. Without a declaration, a name accepts any payload. */
export type Signals = Readonly<Record<string, unknown>>

// A Promise, not a PromiseLike: the compiler compares two promises in a line, and other thenables member by member.
export type Handler<Input, Output, S extends Signals> = (ctx: Context<S>, input: Input) => Promise<Output> | Output

/** Run after the compensations of an execution, by the worker that cleans up. A hook can run steps and sleep. */
export interface Hooks<Input, S extends Signals> {
  /** The execution is cancelled, after it had started. */
  readonly onCancel?: (ctx: Context<S>, input: Input, reason: string | null) => unknown
  /** The handler threw and no retry is left, or the execution expired or reached a limit. */
  readonly onFailure?: (ctx: Context<S>, input: Input, error: unknown) => unknown
}

/** The policy of a task. It applies to every submit of the task; the options of a submit override it. */
export interface TaskOptions {
  /** The version of the code. An execution keeps the version that it was submitted with, and only workers of that version run it. */
  readonly version?: string
  /** The lane that it is submitted to; defaults to `default`. A worker serves the lanes of its tasks. */
  readonly lane?: string
  /** How often a failed run is tried again, and after which pauses. Defaults to 5 attempts; the pause starts at 1 s and doubles up to 5 min. */
  readonly retry?: PolicyInput['retry']
  /** How long one attempt may hold its lease, that is, run. */
  readonly attemptTimeout?: Duration
  /**
   * How often in a row another worker may take over the execution after its process died, or blocked for longer than the lease,
   * before a step was recorded. After that it fails with reason `reclaim_limit`. Defaults to 5.
   */
  readonly maxReclaims?: number
  /** How long the whole execution may take, from submit to its end, waits included. After that it ends as `expired`. */
  readonly deadline?: Duration
  /** On each of its executions, unless the submit names another value. */
  readonly tags?: Tags
  /** Fails a run with `nondeterminism` when its steps come in another order than recorded, or a recorded step is missing. */
  readonly strict?: boolean
  /**
   * Runs the code in a thread of its own, for code that computes for long: the worker continues to renew the lease, and
   * terminates the thread when the lease is lost. The thread imports the module that calls `task`. That module must
   * export the task and should have no other effect. If another module exports the task, pass the `import.meta.url` of
   * that module instead of true.
   */
  readonly thread?: boolean | string | URL
}

// Before the handler's input is inferred, the compiler compares the options with void.
type Example<In> = [In] extends [void] ? unknown : In

interface Schemas<In, Input, Out, Output, S extends Signals> extends Hooks<NoInfer<Input>, NoInfer<S>> {
  /** A valid input, for people who try the task: `flowfabric dev` suggests a submit with it. */
  readonly example?: NoInfer<Example<In>>
  /** Checks the input, at the submit and before each run. The handler gets what the schema returns. */
  readonly input?: Schema<In, Input>
  /** Checks what the handler returns. The result is what the schema returns. */
  readonly output?: Schema<Out, Output>
  /** The payloads that `ctx.waitFor` returns and `run.signal` accepts, by name. */
  readonly signals?: { readonly [Name in keyof S]: Schema<unknown, S[Name]> }
}

/** `In` is the input of a submit, `Out` the type of the result. */
export interface Task<In = unknown, Out = unknown, S extends Signals = Signals> {
  readonly name: string
  readonly version: string | null
  readonly lane: string
  readonly strict: boolean
  /** The module in which a thread finds it; null: no thread. */
  readonly thread: string | null
  readonly policy: PolicyInput
  readonly deadline: Duration | undefined
  readonly tags: Tags | undefined
  readonly example: unknown
  readonly schemas: Readonly<{
    input: Schema<unknown, unknown> | undefined
    output: Schema<unknown, unknown> | undefined
    signals: Readonly<Record<string, Schema<unknown, unknown>>>
  }>
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly handler: Handler<never, unknown, any>
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly hooks: Hooks<never, any>
  /** Only types: this field does not exist at run time. */
  readonly types?: { readonly input: (input: In) => void; readonly output: Out; readonly signals: S }
}

export const defaultRetry = {
  attempts: 5,
  backoff: { type: 'exponential', initialMs: 1000, multiplier: 2, maxMs: '5m', jitter: 0.25 },
} as const satisfies PolicyInput['retry']

/** Any signal, with any payload: its type is unknown until a schema or a check narrows it. */
type AnySignals = Readonly<Record<string, unknown>>

/**
 * Names a piece of durable code.
 *
 * @example
 * const greet = task('greet', async (ctx, { name }: { name: string }) => {
 *   return ctx.step('write', () => `hello ${name}`)
 * })
 */
export function task<Input = void, Output = void>(
  name: string,
  handler: Handler<Input, Output, AnySignals> & Storable<Input>,
): Task<Input, Stored<Awaited<Output>>, AnySignals>
export function task<Input = void, Out = void, In = Input, Output = Out, S extends Signals = AnySignals>(
  name: string,
  options: TaskOptions & Schemas<In, Input, Out, Output, S>,
  handler: Handler<Input, Out, S> & Storable<In>,
): Task<In, Stored<Awaited<Output>>, S>
export function task(name: string, second: unknown, third?: unknown): Task {
  if (typeof second === 'function' && third !== undefined) {
    throw new EngineError('invalid_input', `the options of task ${show(name)} come before its handler; swap them`)
  }
  const [options, handler] = third === undefined ? [{}, second] : [second as GivenOptions, third]
  refuseUnknownFields(`task ${show(name)}`, options, optionNames)
  if (typeof handler !== 'function') throw refusal('invalid_input', 'handler', show(handler), 'a function')
  const { version, lane = 'default', retry = defaultRetry, attemptTimeout, deadline, tags, strict = false } = options
  const { maxReclaims = limits.defaultTaskReclaimCount } = options
  if (typeof strict !== 'boolean') throw refusal('invalid_input', 'strict', show(strict), 'true or false')
  if (!Number.isInteger(maxReclaims) || maxReclaims < 0 || maxReclaims > limits.reclaimCount) {
    throw refusal('invalid_input', 'maxReclaims', show(maxReclaims), `a whole number from 0 to ${limits.reclaimCount}`)
  }
  const policy = {
    retry,
    maxReclaimCount: maxReclaims,
    ...(attemptTimeout !== undefined && { attemptTimeoutMs: attemptTimeout }),
  }
  parsePolicy(policy)
  if (deadline !== undefined) parseDuration('deadline', deadline)
  if (tags !== undefined) parseTags(tags)
  return {
    name: checkKind(name),
    version: version === undefined ? null : checkVersion(version),
    lane: checkLane(lane),
    strict,
    thread: moduleOf(options.thread, task),
    policy,
    deadline,
    tags,
    example: options.example,
    schemas: checkSchemas(options),
    handler: handler as Task['handler'],
    hooks: checkHooks(options),
  }
}

export function isTask(value: unknown): value is Task {
  return typeof value === 'object' && value !== null && 'name' in value && 'schemas' in value && 'handler' in value
}

type GivenOptions = TaskOptions & Schemas<unknown, unknown, unknown, unknown, Signals>

const optionNames = [
  'version',
  'lane',
  'retry',
  'attemptTimeout',
  'maxReclaims',
  'deadline',
  'tags',
  'strict',
  'thread',
  'example',
  'input',
  'output',
  'signals',
  'onCancel',
  'onFailure',
] as const satisfies readonly (keyof GivenOptions)[]

function checkHooks({ onCancel, onFailure }: GivenOptions): Task['hooks'] {
  for (const [name, hook] of Object.entries({ onCancel, onFailure })) {
    if (hook !== undefined && typeof hook !== 'function') throw refusal('invalid_input', name, show(hook), 'a function')
  }
  return { ...(onCancel !== undefined && { onCancel }), ...(onFailure !== undefined && { onFailure }) }
}

function checkSchemas({ input, output, signals = {} }: GivenOptions): Task['schemas'] {
  refuseNonSchema('input', input)
  refuseNonSchema('output', output)
  if (typeof signals !== 'object' || signals === null) {
    throw refusal('invalid_input', 'signals', show(signals), 'an object of schemas by name')
  }
  for (const [name, schema] of Object.entries(signals))
    refuseNonSchema(`signals.${checkSignalName('signals', name)}`, schema)
  return {
    input,
    output,
    signals,
  }
}
