// One run of a handler: the context that it is given, and how it came to an end.
import type { Step } from '../engine/step/step.ts'
import { checkSize, encodeValue } from '../model/codec.ts'
import type { Duration } from '../model/duration.ts'
import { refusal } from '../model/errors.ts'
import { parseExecutionId } from '../model/id.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { checkStepName } from '../model/step.ts'
import { show } from '../model/text.ts'
import { Child, childOptionNames } from './child.ts'
import { cannotWait, forward, inHook, type CodeMode } from './code-mode.ts'
import { Compensations, type Compensation } from './compensations.ts'
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
import type { RunExit } from './run-exit.ts'
import { DeterministicRandom, idempotencyKeyOf } from './deterministic-random.ts'
import { Cancelled, RunLeft } from './errors.ts'
import type { History } from './history.ts'
import type { Holder } from './holder.ts'
import { RunScopes } from './run-scopes.ts'
import { suspendRun } from './suspend-run.ts'
import { makeWaitpoint } from './made-waitpoint.ts'
import { recordedNow, type Recording } from './recorded-now.ts'
import { markHandled, IdleDetector } from './idle.ts'
import { RunContext, type Acts } from './run-context.ts'
import { RunLogger } from './run-logger.ts'
import { Sleep } from './sleeping.ts'
import { Steps } from './steps.ts'
import { isTask, type Task } from './task.ts'
import { checkAwaited, StepPromise, Unawaited, type UnawaitedMode, type Watched } from './unawaited.ts'
import { readUpstream, readUpstreams } from './upstream.ts'
import { checkWait, SignalWait } from './waiting.ts'
import { Group, type Awaitable, type Facts } from './waits.ts'

export class Code implements Acts {
  readonly context: Context
  readonly #holder: Holder
  readonly #task: Task
  readonly #history: History
  readonly #facts: Facts
  readonly #scopes = new RunScopes()
  readonly #unawaitedMode: UnawaitedMode
  readonly #unawaited = new Unawaited()
  #idleMade: IdleDetector | null = null
  #stepsMade: Steps | null = null
  #exit: RunExit | null = null
  #isOver = false
  /** There is middleware around the handler. */
  #isInside = false
  #random: DeterministicRandom | null = null
  #logger: RunLogger | null = null
  readonly #mode: CodeMode
  #compensationsMade: Compensations | null = null
  /** `Cancelled` was thrown. */
  wasStopped = false

  constructor(
    holder: Holder,
    task: Task,
    history: History,
    facts: Facts,
    unawaited: UnawaitedMode = 'warn',
    mode: CodeMode = forward,
  ) {
    this.#mode = mode
    this.#holder = holder
    this.#task = task
    this.#history = history
    this.#facts = facts
    this.#unawaitedMode = unawaited
    this.context = new RunContext(this)
    holder.lease.onLost(() => this.#lose())
  }

  /** What the handler gives; rejects with what it throws, and with `RunLeft` when it has left without an ending. */
  run(input: unknown): Promise<unknown> {
    return this.#scopes.enter(
      () => (this.#isInside ? this.#handled(input) : this.#handle(input)),
      () => this.#idleMade?.forget(),
    )
  }

  // So that middleware sees what the check throws. It may still await what it has begun itself.
  async #handled(input: unknown): Promise<unknown> {
    const before = this.#unawaited.open
    const value = await this.#handle(input)
    this.#check(this.#unawaited.take(before))
    return value
  }

  /** Throws, or warns, for what the code and the middleware around it have begun and never awaited. */
  checkAwaited(): void {
    this.#check(this.#unawaited.take())
  }

  #check(forgotten: readonly Watched[]): void {
    if (forgotten.length === 0 || this.#exit !== null) return
    this.#stepsMade?.forget(forgotten.flatMap((each) => (each instanceof StepPromise ? (each.call ?? []) : [])))
    const warning = checkAwaited(this.#task.name, forgotten, this.#unawaitedMode)
    if (warning === null) return
    const { kind, executionId } = this.#holder.claim
    this.logger.report('warn', `${kind} ${parseExecutionId(executionId).uuid}: ${warning}`)
  }

  /** What goes around the handler, and may use the context before it and after it. It is not waited for when the run has left. */
  around(begin: () => Promise<unknown>): Promise<unknown> {
    this.#isInside = true
    return this.#scopes.enter(begin)
  }

  /** The run is over: what code of it is still under way never hears again, and its steps are told to stop. */
  end(): void {
    this.#isOver = true
    this.#idleMade?.end()
    this.#stepsMade?.end()
  }

  /** Null: this run has registered nothing. */
  get compensations(): Compensations | null {
    return this.#compensationsMade
  }

  get #compensations(): Compensations {
    return (this.#compensationsMade ??= new Compensations({ ...this.#recording, unawaited: this.#unawaited }))
  }

  get #recording(): Recording {
    return { holder: this.#holder, history: this.#history, idle: this.#idle, steps: this.#steps }
  }

  get cleansUp(): boolean {
    return this.#mode.hasRegistered || this.#compensationsMade?.isEmpty === false
  }

  /** Runs a compensation, as code of this run. */
  undo(compensation: Compensation): Promise<unknown> {
    return this.#steps.compensate(compensation)
  }

  /** `Cancelled` once the run is asked to stop and has something to clean up. */
  stopped(): Cancelled | null {
    const { isStopping, canStop } = this.#mode
    if (!isStopping && !(canStop && this.#holder.lease.isAskedToStop && this.cleansUp)) return null
    this.wasStopped = true
    return new Cancelled()
  }

  get canStop(): boolean {
    return this.#mode.canStop
  }

  compensate(name: string, work: Compensation['work'], options: StepOptions = {}): Promise<void> {
    if (this.#mode.canStop) return this.#compensations.register(name, work, options)
    return markHandled(Promise.reject(inHook('ctx.compensate')))
  }

  // What a handler that is no async function throws is a rejection like any other.
  #handle(input: unknown): Promise<unknown> {
    // Middleware may have taken long. The layers have been left when the lease is lost.
    if (!this.#holder.lease.holds()) return new Promise(() => {})
    const { onCancel, onFailure } = this.#task.hooks
    if (onCancel === undefined && onFailure === undefined) return this.#callHandler(input)
    return this.#compensations.registerHook(this.#task, this.#mode.hook).then(() => this.#callHandler(input))
  }

  #callHandler(input: unknown): Promise<unknown> {
    const handler = this.#task.handler as unknown as (ctx: Context, input: unknown) => unknown
    try {
      return Promise.resolve(handler(this.context, input))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  // Made when they are first needed: code that never waits and has no steps has none of them, and there are many such runs.
  get #idle(): IdleDetector {
    return (this.#idleMade ??= this.#makeIdle())
  }

  #makeIdle(): IdleDetector {
    const holder = this.#holder
    const isReplaying = (): boolean => this.#history.isReplaying
    const idle = new IdleDetector(this.#facts, isReplaying, {
      suspend: async (waits, leaves) => {
        // The word has been said, though the code goes on beside it.
        if (!this.#mode.canStop && (leaves.length > 1 || leaves[0]!.dueAt === null)) throw cannotWait()
        const answer = this.#exitAsRunLeft ?? (await suspendRun(holder, waits, leaves))
        if (!(answer instanceof RunLeft)) return answer
        this.#scopes.stop(answer)
        return null
      },
      fail: (error) => this.#scopes.stop(error),
      stopped: () => this.stopped(),
    })
    // Code that has only computed so far may come here after its run is over.
    if (this.#isOver) idle.end()
    return idle
  }

  get #steps(): Steps {
    return (this.#stepsMade ??= new Steps(
      this.#holder,
      this.#history,
      this.#idle,
      this.#facts.now,
      this.#unawaited,
      this,
    ))
  }

  get exit(): RunExit | null {
    return this.#exit
  }

  #lose(): void {
    this.#isOver = true
    this.#idleMade?.end()
    this.#scopes.stop(new RunLeft('lost', this.#holder.lease.lost.reason))
  }

  get claim(): Holder['claim'] {
    return this.#holder.claim
  }

  get logger(): RunLogger {
    return (this.#logger ??= this.#makeLogger())
  }

  #makeLogger(): RunLogger {
    const { logger, lease, claim } = this.#holder
    const { reason, resumption } = claim
    const isAfterWait =
      reason === 'resume' && resumption !== null && !this.#history.isRecordedSince(resumption.resumedAt)
    return new RunLogger({
      logger,
      lease,
      isRepeating: () => this.#history.isRepeating(isAfterWait),
      step: () => this.#stepsMade?.inside?.name,
    })
  }

  get abort(): AbortSignal {
    const { lease } = this.#holder
    return this.#mode.canStop ? lease.stop : lease.lost
  }

  step(name: string, work: (attempt: StepTry) => unknown, options?: StepOptions): Promise<unknown> {
    return this.#steps.step(name, work, options)
  }

  idempotencyKey(name: string): string {
    return idempotencyKeyOf(this.#holder.claim, checkStepName('the name of an idempotency key', name), null)
  }

  group(join: 'all' | 'any' | 'race', waits: readonly unknown[]): Group {
    if (!Array.isArray(waits))
      throw refusal('invalid_input', `the argument of ctx.${join}`, show(waits), 'a list of waits')
    if (join === 'race' && waits.length === 0) {
      throw refusal(
        'invalid_input',
        'the argument of ctx.race',
        'an empty list',
        'at least one wait, or the race never ends',
      )
    }
    return new Group(join, waits, (wait) => this.#idle.await(wait)).watchedBy(this.#unawaited)
  }

  sleep(name: string, length: { readonly dueIn: Duration } | { readonly dueAt: number }): Wait<void> {
    this.#steps.refuseInside(`the sleep ${show(name)}`)
    const call = this.#history.reach('sleep', name)
    const delivered = (): void => this.#delivered(call.recorded)
    return new Sleep(call, length, this.#holder, this.#idle, delivered).watchedBy(this.#unawaited)
  }

  waitFor(what: string | Waitpoint, options: WaitForOptions): Awaitable<unknown> {
    checkWait(what, options)
    const [name, waitpointId] = typeof what === 'object' ? [what.name, what.waitpointId] : [what, null]
    const { signals } = this.#task.schemas
    const schema = options.schema ?? (Object.hasOwn(signals, name) ? signals[name] : undefined)
    this.#steps.refuseInside(`the wait for ${show(name)}`)
    const call = this.#history.reach('wait', name)
    const delivered = (): void => this.#delivered(call.recorded)
    const around = { holder: this.#holder, idle: this.#idle, delivered }
    const given = { ...options, ...(schema !== undefined && { schema }) }
    return new SignalWait(call, given, waitpointId, around).watchedBy(this.#unawaited)
  }

  child(task: Task, input: unknown, options: ChildOptions = {}, verb: 'run' | 'spawn' = 'run'): Child {
    if (!isTask(task)) throw refusal('invalid_input', 'the task of a child', show(task), 'what task() returned')
    refuseUnknownFields(`ctx.${verb}`, options, childOptionNames)
    this.#steps.refuseInside(`the child ${show(task.name)}`)
    const call = this.#history.reach('child', options.name ?? task.name)
    const delivered = (): void => this.#delivered(call.recorded)
    // The making of a child that is only awaited gives the code nothing.
    if (verb === 'run' && call.made !== null) this.#history.delivered(call.made)
    const inTurn = (step: Step): Promise<void> => this.#steps.inTurn(step)
    const child = new Child(call, task, input, options, { holder: this.#holder, idle: this.#idle, delivered, inTurn })
    // A spawned child need not be awaited.
    return verb === 'run' ? child.watchedBy(this.#unawaited) : child
  }

  #delivered(recorded: Step | null): void {
    this.#history.delivered(recorded)
  }

  waitpoint(name: string, options: { readonly expiresIn?: Duration }): Promise<Waitpoint> {
    return markHandled(makeWaitpoint(this.#recording, name, options))
  }

  upstream(name: string): Promise<unknown> {
    return this.#idle.ask(() => readUpstream(this.#holder, name))
  }

  upstreams(): Promise<readonly Upstream[]> {
    return this.#idle.ask(() => readUpstreams(this.#holder))
  }

  progress(percent: number, message: string | undefined): Promise<void> {
    return this.#idle.ask(() => this.#progress(percent, message))
  }

  async #progress(percent: number, message: string | undefined): Promise<void> {
    const { engine, fence } = this.#holder
    const request = { ...fence, percent, ...(message !== undefined && { message }) }
    await this.#holder.retryWhileLeased(() => engine.executions.progress(request))
  }

  // Recorded like a step, and read back as the time of that record.
  now(): Promise<number> {
    return markHandled(recordedNow(this.#recording))
  }

  randomBytes(what: string): Buffer {
    this.#random ??= new DeterministicRandom(this.#holder.claim)
    return this.#random.bytes(what, this.#stepsMade?.inside)
  }

  restart(input: unknown): never {
    const encoded = encodeValue(this.#holder.codec, 'the input of a restart', input)
    return this.exitBy({ kind: 'restart', input: checkSize('the input of a restart', encoded) })
  }

  exitBy(exit: RunExit): never {
    if (!this.#mode.canStop) throw inHook(`ctx.${exit.kind === 'retry' ? 'retryIn' : exit.kind}`)
    this.#exit ??= exit
    throw new RunLeft(howOf[exit.kind])
  }

  get #exitAsRunLeft(): RunLeft | null {
    return this.#exit === null ? null : new RunLeft(howOf[this.#exit.kind])
  }
}

const howOf = { retry: 'retried', cancel: 'cancelled', restart: 'restarted' } as const
