// The types of `ctx`, the context of durable code. Its methods record what the code does, or wait without keeping a worker.
import type { Duration } from '../model/duration.ts'
import type { EdgeKind, Ending } from '../model/edge-group.ts'
import type { ExecutionId, FlowId, WaitpointId } from '../model/id.ts'
import type { PolicyInput } from '../model/policy.ts'
import type { Logger } from '../model/logger.ts'
import type { Stored } from '../model/stored.ts'
import type { Schema } from './schema.ts'
import type { SubmitOptions } from './submission.ts'
import type { Signals, Task } from './task.ts'

/** A lazy promise: it begins to wait when the code awaits it, and releases the worker until it settles. */
export interface Wait<T> extends Promise<T> {}

/** The options of `ctx.step`. */
export interface StepOptions<Out = unknown, In = unknown> {
  /**
   * Retries of this step alone; without it, the step is tried once. Pauses of up to five seconds keep the worker, longer ones
   * suspend the run.
   */
  readonly retry?: PolicyInput['retry']
  /** How long one try may take. After that its signal aborts and the try has failed. */
  readonly timeout?: Duration
  /**
   * Checks the value that the step returns, and again whenever it is read back. The code receives the output of the
   * schema.
   */
  readonly schema?: Schema<In, Out>
}

/** What the function of a step receives. */
export interface StepTry {
  /** Aborts when the lease is lost, the run is asked to stop or ends without the step, or the step takes too long. */
  readonly signal: AbortSignal
  /** The same in every try and every run. Send it to the service that you call, so that it can refuse a second effect. */
  readonly idempotencyKey: string
  /** The number of this try, from 1. */
  readonly tryCount: number
}

/** The options of `ctx.waitFor`. */
export interface WaitForOptions<Value = unknown> {
  /** Checks and types the payload of the signal. */
  readonly schema?: Schema<unknown, Value>
  /** How long to wait; without it, until the signal comes. */
  readonly timeout?: Duration
  /** Returns the value of the wait when it timed out; without it, the wait throws `WaitTimeoutError`. */
  readonly onTimeout?: () => Value
}

export interface LinkOptions {
  /** The name of the signal that it sends. */
  readonly action: string
  /** The name of the signal of the opposite answer. */
  readonly refusal?: string
  /** The person whom it is issued for. All links for one person are one source, and so are all links without a person. */
  readonly for?: string
  readonly expiresIn: Duration
}

/** Created before the wait, so that the code can send its token first. */
export interface Waitpoint {
  readonly name: string
  readonly waitpointId: WaitpointId
  /** The token that sends the signal. Read it in the step that sends it: it cannot be read any more once the signal has arrived. */
  token(): Promise<string>
  /**
   * A link to the page at `base`, such as `https://.../approve` of a server. It sends one signal: `action`, or `refusal` if you set
   * one. With the page of a server the wait returns `{ approved, action, comment? }`. Read it in a step, as the token.
   */
  url(base: string, options: LinkOptions): Promise<string>
}

export type ChildOptions = Omit<
  SubmitOptions,
  'executionId' | 'namespace' | 'parentId' | 'idempotencyKey' | 'idempotencyTtl'
> & {
  /** The name of the child's record; default: the name of the task. */
  readonly name?: string
}

export interface ChildHandle<Output> {
  readonly id: ExecutionId
  /** Its result; throws `ChildError` when it did not succeed. */
  result(): Wait<Output>
}

/** A member of the flow that this one depends on. */
export interface Upstream<Value = unknown> {
  /** The name of the edge, or else of the member. */
  readonly name: string
  readonly executionId: ExecutionId
  readonly kind: EdgeKind
  /** Null: it had not ended when this member started. */
  readonly outcome: Ending | null
  /** Its result, if it succeeded. */
  readonly value: Value | undefined
}

/** The payload of a signal. A waitpoint does not name a declared signal, so its payload is unknown. */
type SignalPayload<S extends Signals, Name extends keyof S> = [Name] extends [never] ? unknown : S[Name]

type ChildArguments<In> = undefined extends In
  ? [input?: In, options?: ChildOptions]
  : [input: In, options?: ChildOptions]

/** The context of the code of a task: steps, waits, children, and facts about its execution. */
export interface Context<S extends Signals = Signals> {
  /** The id of this execution, as `submit` returned it. It is the same in every attempt and run. */
  readonly executionId: ExecutionId
  /** The namespace that it was submitted in. */
  readonly namespace: string
  /** The lane that it was submitted to. Workers claim from lanes. */
  readonly lane: string
  /** The name of its task. */
  readonly kind: string
  /** The version that it was submitted with; null: any worker may run it. */
  readonly version: string | null
  /** Its tags as they were when this run began. */
  readonly tags: Readonly<Record<string, string>>
  /** The number of this attempt, from 0. A run that resumes after a wait belongs to the same attempt. */
  readonly attemptIndex: number
  /** The number of restarts and replays of this execution so far. Each has steps of its own. */
  readonly generation: number
  /** The flow that it is a member of. */
  readonly flowId: FlowId | null
  /** The execution that started it as a child. */
  readonly parentId: ExecutionId | null
  /** The id and epoch of its lease. Store the epoch with your own writes to refuse those of a worker that has lost the lease. */
  readonly fence: { readonly leaseId: string; readonly leaseEpoch: number }
  /** Aborts when the lease is lost or the run is asked to stop. Its reason is the error. */
  readonly abort: AbortSignal
  /**
   * The logger of the worker. Each line carries the fields `executionId`, `kind`, `attempt`, `maxAttempts` and, within a step, `step`.
   * Lines of code that an earlier run has executed already are not printed again: outside of steps, a line is printed only when no
   * recorded step or wait lies ahead of it.
   */
  readonly logger: Logger

  /**
   * Runs the function and records its result under the name. Once it has succeeded it never runs again: later runs get the recorded
   * result. Steps of one name are numbered in the order in which the code reaches them; if that order can change between runs, give
   * each its own name.
   */
  step<Value, Out = Stored<Value>>(
    name: string,
    work: (attempt: StepTry) => Promise<Value> | Value,
    options?: StepOptions<Out, Value>,
  ): Promise<NoInfer<Out>>
  /**
   * Registers how to undo what the code has done. When the execution is cancelled, expires or fails for good, its compensations run
   * as steps, the last one first. Await it: it is recorded then. Without `retry` it is tried 5 times.
   */
  compensate(
    name: string,
    work: (attempt: StepTry) => unknown,
    options?: Pick<StepOptions, 'retry' | 'timeout'>,
  ): Promise<void>
  /** Waits, without a worker. The end is recorded when the code first reaches it, and is the same in every later run. */
  sleep(name: string, duration: Duration): Wait<void>
  /** Waits until a point in time; does not wait if it has passed. */
  sleepUntil(name: string, time: number | Date): Wait<void>
  // In this order: the compiler reports the last one, which names the declared signals.
  /** Waits for a signal by name, or through the waitpoint of that name. The schema checks and types its payload. */
  waitFor<Value>(
    name: string | Waitpoint,
    options: WaitForOptions<Value> & { schema: Schema<unknown, Value> },
  ): Wait<Value>
  /**
   * Waits for a signal by name, or through the waitpoint of that name, and returns its payload. The type of the payload
   * is the one that `signals` of the task declares, or unknown.
   */
  waitFor<Name extends string & keyof S = never>(
    name: Name | Waitpoint,
    options?: WaitForOptions<SignalPayload<S, Name>>,
  ): Wait<SignalPayload<S, Name>>
  /**
   * Creates a waitpoint before the wait, so that you can send its token or link. `ctx.waitFor(waitpoint)` then returns the signal, also
   * if it arrived earlier. The waitpoint closes if the code does not wait for it within `expiresIn`.
   */
  waitpoint(name: string, options?: { readonly expiresIn?: Duration }): Promise<Waitpoint>
  /** Runs a task as a child and waits for its result without keeping the worker; throws `ChildError` when it does not succeed. */
  run<In, Out, C extends Signals>(task: Task<In, Out, C>, ...args: ChildArguments<In>): Wait<Out>
  /** Starts a child and continues. The child ends with its parent unless `onParentEnd` is `detach`. */
  spawn<In, Out, C extends Signals>(task: Task<In, Out, C>, ...args: ChildArguments<In>): Promise<ChildHandle<Out>>
  /**
   * The result of a member of the flow that this one depends on: by the name of the edge or of that member, or by its task if the member
   * has the task's name. Throws when the member did not succeed.
   */
  upstream<Out, C extends Signals>(task: Task<never, Out, C>): Promise<Out>
  upstream<Value = unknown>(name: string): Promise<Value>
  /** All members that this one depends on, and how they ended. */
  upstreams(): Promise<readonly Upstream[]>
  /** Waits for all, in one suspension: the run resumes when all are satisfied. */
  all<const T extends readonly unknown[]>(waits: T): Wait<{ -readonly [I in keyof T]: Awaited<T[I]> }>
  /** Waits for the first that succeeds. */
  any<const T extends readonly unknown[]>(waits: T): Wait<Awaited<T[number]>>
  /** Waits for the first that settles. The others stop waiting. */
  race<const T extends readonly unknown[]>(waits: T): Wait<Awaited<T[number]>>

  /** Ends the run. The next attempt begins after the delay, if the policy has one left. */
  retryIn(delay: Duration, reason?: string): never
  /** Ends the execution as cancelled. */
  cancel(reason?: string): never
  /** Begins again with another input and no recorded steps. */
  restart(input?: unknown): never
  /** Shows how far the execution is. */
  progress(percent: number, message?: string): Promise<void>

  /** The database's time when this was first reached; the same in every later run. */
  now(): Promise<number>
  /** A number from 0 up to 1, the same in every later run. Not for secrets. */
  random(): number
  /** A UUID that is the same in every later run. Not for secrets. */
  uuid(): string
  /** A key for effects outside of any step. It is the same in every run. */
  idempotencyKey(name: string): string
}
