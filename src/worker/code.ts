// The code of one run: its context, the parts that the context works with, and how the code came to its end.
import { checkSize, encodeValue } from '../model/codec.ts'
import { parseExecutionId } from '../model/id.ts'
import type { ContextOwner } from './base-context.ts'
import { cannotWait, forward, inHook, type CodeMode } from './code-mode.ts'
import { Compensations, type Compensation } from './compensations.ts'
import type { Context } from './context.ts'
import { Cancelled, RunLeft } from './errors.ts'
import type { History, StepCall } from './history.ts'
import type { Holder } from './holder.ts'
import { IdleDetector } from './idle.ts'
import type { InsideStep } from './inside-step.ts'
import { RunContext } from './run-context.ts'
import { leftBy, type RequestedExit, type RunExit } from './run-exit.ts'
import { RunLogger } from './run-logger.ts'
import { RunScopes } from './run-scopes.ts'
import { Steps } from './steps.ts'
import { suspendRun } from './suspend-run.ts'
import type { Task } from './task.ts'
import { checkAwaited, StepPromise, Unawaited, type UnawaitedMode, type WatchedWork } from './unawaited.ts'
import type { WaitDeps } from './waiting.ts'
import type { Awaitable, WaitFacts, Leaf } from './waits.ts'

export class Code implements ContextOwner {
  readonly context: Context
  readonly holder: Holder
  readonly task: Task
  readonly history: History
  /** The promises of this run that the code has not awaited yet. */
  readonly unawaited = new Unawaited()
  readonly #facts: WaitFacts
  readonly #mode: CodeMode
  readonly #unawaitedMode: UnawaitedMode
  readonly #scopes = new RunScopes()
  // Made when first needed. Most runs have no steps and no waits.
  #idle: IdleDetector | null = null
  #steps: Steps | null = null
  #compensations: Compensations | null = null
  #logger: RunLogger | null = null
  #exit: RunExit | null = null
  #isOver = false
  #hasMiddleware = false
  /** `Cancelled` was thrown. */
  wasStopped = false

  constructor(
    holder: Holder,
    task: Task,
    history: History,
    facts: WaitFacts,
    unawaited: UnawaitedMode = 'warn',
    mode: CodeMode = forward,
  ) {
    this.holder = holder
    this.task = task
    this.history = history
    this.#facts = facts
    this.#unawaitedMode = unawaited
    this.#mode = mode
    this.context = new RunContext(this) as unknown as Context
    holder.lease.onLost(() => this.#lose())
  }

  /** Opens the scope of middleware around the handler. It may use the context. It is not awaited any more when the run has left. */
  around(begin: () => Promise<unknown>): Promise<unknown> {
    this.#hasMiddleware = true
    return this.#scopes.enter(begin)
  }

  /** Calls the handler. Settles as it does; rejects with `RunLeft` when the run suspends or loses its lease. */
  run(input: unknown): Promise<unknown> {
    return this.#scopes.enter(
      () => (this.#hasMiddleware ? this.#handleChecked(input) : this.#handle(input)),
      () => this.#idle?.forget(),
    )
  }

  // Checked inside the scope of the middleware, so that it receives the error. The middleware may still await its own calls.
  async #handleChecked(input: unknown): Promise<unknown> {
    const before = this.unawaited.open
    const value = await this.#handle(input)
    this.#check(this.unawaited.take(before))
    return value
  }

  #handle(input: unknown): Promise<unknown> {
    // Middleware may have taken long. A lost lease has rejected the scopes already.
    if (!this.holder.lease.holds()) return new Promise(() => {})
    const { onCancel, onFailure } = this.task.hooks
    if (onCancel === undefined && onFailure === undefined) return this.#callHandler(input)
    const registered = this.ensureCompensations().registerHook(this.task, this.#mode.hook)
    return registered.then(() => this.#callHandler(input))
  }

  // A handler that is not async may throw before it returns a promise.
  #callHandler(input: unknown): Promise<unknown> {
    const handler = this.task.handler as unknown as (ctx: Context, input: unknown) => unknown
    try {
      return Promise.resolve(handler(this.context, input))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Throws or warns when the code, or the middleware around it, has not awaited all that it began. */
  checkAwaited(): void {
    this.#check(this.unawaited.take())
  }

  #check(forgotten: readonly WatchedWork[]): void {
    if (forgotten.length === 0 || this.#exit !== null) return
    this.#steps?.forget(forgotten.flatMap((each) => (each instanceof StepPromise ? (each.call ?? []) : [])))
    const warning = checkAwaited(this.task.name, forgotten, this.#unawaitedMode)
    if (warning === null) return
    const { kind, executionId } = this.claim
    this.logger.report('warn', `${kind} ${parseExecutionId(executionId).uuid}: ${warning}`)
  }

  /** The run is over. Promises of code that is still running never settle, and its steps are aborted. */
  end(): void {
    this.#isOver = true
    this.#idle?.end()
    this.#steps?.end()
  }

  #lose(): void {
    this.#isOver = true
    this.#idle?.end()
    this.#scopes.stop(new RunLeft('lost', this.holder.lease.lost.reason))
  }

  /** How the code ended its run itself; null: it has not. */
  get exit(): RunExit | null {
    return this.#exit
  }

  exitBy(requested: RequestedExit): never {
    const exit = requested.kind === 'restart' ? { ...requested, input: this.#encode(requested.input) } : requested
    if (!this.#mode.canStop) throw inHook(`ctx.${exit.kind === 'retry' ? 'retryIn' : exit.kind}`)
    this.#exit ??= exit
    throw leftBy(exit)
  }

  #encode(input: unknown) {
    const what = 'the input of a restart'
    return checkSize(what, encodeValue(this.holder.codec, what, input))
  }

  /** `Cancelled` once the run is asked to stop and has something to clean up. */
  stopped(): Cancelled | null {
    const { isStopping, canStop } = this.#mode
    if (!isStopping && !(canStop && this.holder.lease.isAskedToStop && this.cleansUp)) return null
    this.wasStopped = true
    return new Cancelled()
  }

  get canStop(): boolean {
    return this.#mode.canStop
  }

  get cleansUp(): boolean {
    return this.#mode.hasRegistered || this.#compensations?.isEmpty === false
  }

  /** Runs a compensation, as code of this run. */
  undo(compensation: Compensation): Promise<unknown> {
    return this.steps.compensate(compensation)
  }

  /** Null: this run has registered none. */
  get compensations(): Compensations | null {
    return this.#compensations
  }

  ensureCompensations(): Compensations {
    return (this.#compensations ??= new Compensations(this))
  }

  get steps(): Steps {
    return (this.#steps ??= new Steps(this.holder, this.history, this.idle, this.#facts.now, this.unawaited, this))
  }

  get inside(): InsideStep | undefined {
    return this.#steps?.inside
  }

  waitDeps({ recorded }: StepCall): WaitDeps {
    return { holder: this.holder, idle: this.idle, delivered: () => this.history.delivered(recorded) }
  }

  get idle(): IdleDetector {
    return (this.#idle ??= this.#makeIdle())
  }

  #makeIdle(): IdleDetector {
    const idle = new IdleDetector(this.#facts, () => this.history.isReplaying, {
      suspend: (waits, leaves) => this.#suspend(waits, leaves),
      fail: (error) => this.#scopes.stop(error),
      stopped: () => this.stopped(),
    })
    // Code that has only computed so far may reach its first wait after the run is over.
    if (this.#isOver) idle.end()
    return idle
  }

  /** Null: the run has left. Otherwise a wait was satisfied meanwhile. */
  async #suspend(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[]): Promise<WaitFacts | null> {
    if (!this.#mode.canStop && (leaves.length > 1 || leaves[0]!.dueAt === null)) throw cannotWait()
    // Code that has ended its run may still await something.
    const suspended = this.#exit === null ? await suspendRun(this.holder, waits, leaves) : leftBy(this.#exit)
    if (!(suspended instanceof RunLeft)) return suspended
    this.#scopes.stop(suspended)
    return null
  }

  get claim(): Holder['claim'] {
    return this.holder.claim
  }

  get abort(): AbortSignal {
    const { lease } = this.holder
    return this.#mode.canStop ? lease.stop : lease.lost
  }

  get logger(): RunLogger {
    return (this.#logger ??= this.#makeLogger())
  }

  #makeLogger(): RunLogger {
    const { logger, lease, claim } = this.holder
    const { reason, resumption } = claim
    const isAfterWait =
      reason === 'resume' && resumption !== null && !this.history.isRecordedSince(resumption.resumedAt)
    return new RunLogger({
      logger,
      lease,
      isRepeating: () => this.history.isRepeating(isAfterWait),
      step: () => this.inside?.name,
    })
  }
}
