// What durable code is given. Everything that it does through here is recorded, or waited for without holding a worker.
import type { Duration } from '../model/duration.ts'
import type { EdgeKind, Ending } from '../model/edge-group.ts'
import type { ExecutionId, FlowId, WaitpointId } from '../model/id.ts'
import type { PolicyInput } from '../model/policy.ts'
import type { Logger } from '../model/logger.ts'
import type { Stored } from '../model/stored.ts'
import type { Schema } from './schema.ts'
import type { SubmitOptions } from './submission.ts'
import type { Signals, Task } from './task.ts'

/** Awaited, it releases the worker until what it stands for has happened. Nothing happens before. */
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
  /** Checks what the step returns, and again whenever it is read back; the code gets what the schema makes of it. */
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
  /** Checks and types what was sent with the signal. */
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
  /** The person whom it is issued for: links for one person are one source, and so are all that name nobody. */
  readonly for?: string
  readonly expiresIn: Duration
}

/** Made ahead of the wait, so that its token can be handed out first. */
export interface Waitpoint {
  readonly name: string
  readonly waitpointId: WaitpointId
  /** For whoever may answer. In the step that hands it out, and nowhere else: no later run is given it once it has answered. */
  token(): Promise<string>
  /**
   * A link to the page at `base`, such as `https://.../approve` of a server, that answers once: by `action`, or by `refusal` where
   * that is given. The page of a server gives the wait `{ approved, action, comment? }`. In a step, as the
   * token.
   */
  url(base: string, options: LinkOptions): Promise<string>
}

export type ChildOptions = Omit<
  SubmitOptions,
  'executionId' | 'namespace' | 'parentId' | 'idempotencyKey' | 'idempotencyTtl'
> & {
  /** Of the step; defaults to the task's name. */
  readonly name?: string
}

export interface ChildHandle<Output> {
  readonly id: ExecutionId
  /** What it gives; throws `ChildError` when it ended in another way than by success. */
  result(): Wait<Output>
}

/** A member of the flow that this one came after. */
export interface Upstream<Value = unknown> {
  /** The edge's, else the member's. */
  readonly name: string
  readonly executionId: ExecutionId
  readonly kind: EdgeKind
  /** Null: it had not ended, and was not waited for. */
  readonly outcome: Ending | null
  /** What it gave, when it succeeded. */
  readonly value: Value | undefined
}

/** What comes with a signal; through a waitpoint, which has no name of a declared signal, anything may. */
type Sent<S extends Signals, Name extends keyof S> = [Name] extends [never] ? unknown : S[Name]

type ChildArguments<In> = undefined extends In
  ? [input?: In, options?: ChildOptions]
  : [input: In, options?: ChildOptions]

/** What the code of a task works with: steps, waits, children, and facts about its execution. */
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
  /** Aborts when the lease is lost or the run is asked to stop; its reason tells which. */
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
  /** Waits for a signal by name, or through the waitpoint of that name. The schema checks and types what was sent with it. */
  waitFor<Value>(
    name: string | Waitpoint,
    options: WaitForOptions<Value> & { schema: Schema<unknown, Value> },
  ): Wait<Value>
  /**
   * Waits for a signal by name, or through the waitpoint of that name, and returns what was sent with it. Its type is the one that
   * `signals` of the task declares; without that it is unknown.
   */
  waitFor<Name extends string & keyof S = never>(
    name: Name | Waitpoint,
    options?: WaitForOptions<Sent<S, Name>>,
  ): Wait<Sent<S, Name>>
  /**
   * Before the wait, so that its token or link can be handed out: `ctx.waitFor(waitpoint)` then takes the answer, also one that
   * came earlier. It closes when nothing has waited for it within `expiresIn`.
   */
  waitpoint(name: string, options?: { readonly expiresIn?: Duration }): Promise<Waitpoint>
  /** Runs a task as a child and waits for what it gives, without holding the worker; throws `ChildError` when it fails. */
  run<In, Out, C extends Signals>(task: Task<In, Out, C>, ...args: ChildArguments<In>): Wait<Out>
  /** Starts a child and goes on; it ends with its parent unless `onParentEnd` says `detach`. */
  spawn<In, Out, C extends Signals>(task: Task<In, Out, C>, ...args: ChildArguments<In>): Promise<ChildHandle<Out>>
  /**
   * What a member of the flow gave that this one came after: by the name of the edge or of that member, or by its task where
   * it has the task's name. Throws when it did not succeed.
   */
  upstream<Out, C extends Signals>(task: Task<never, Out, C>): Promise<Out>
  upstream<Value = unknown>(name: string): Promise<Value>
  /** All that came before it, and how they ended. */
  upstreams(): Promise<readonly Upstream[]>
  /** One suspension for all of them: it is woken when all are there. */
  all<const T extends readonly unknown[]>(waits: T): Wait<{ -readonly [I in keyof T]: Awaited<T[I]> }>
  /** Woken by the first that succeeds. */
  any<const T extends readonly unknown[]>(waits: T): Wait<Awaited<T[number]>>
  /** Woken by the first, however it ends. */
  race<const T extends readonly unknown[]>(waits: T): Wait<Awaited<T[number]>>

  /** Ends the run: the next attempt begins then, if the policy has one left. */
  retryIn(delay: Duration, reason?: string): never
  /** Ends the execution as cancelled. */
  cancel(reason?: string): never
  /** Begins again with another input and no recorded steps. */
  restart(input?: unknown): never
  /** How far it is, for people to see. */
  progress(percent: number, message?: string): Promise<void>

  /** The database's time when this was first reached; the same in every later run. */
  now(): Promise<number>
  /** From 0 up to 1, the same in every later run; no secret. */
  random(): number
  /** The same in every later run; no secret. */
  uuid(): string
  /** For effects outside of any step: the same in every run. */
  idempotencyKey(name: string): string
}
