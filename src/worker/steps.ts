// A step is a recorded result, or run and recorded. Once it has succeeded it never runs again; a last failure is recorded too, so
// that code which caught it goes the same way again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Step } from '../engine/step/step.ts'
import { encodeValue, type Encoded } from '../model/codec.ts'
import { parseDuration } from '../model/duration.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { parsePolicy, retryDelayMs, shouldRetry, type ExecutionPolicy } from '../model/policy.ts'
import { decodeError, encodeError } from '../model/recorded-error.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import type { StepOptions, StepTry } from './context.ts'
import { idempotencyKeyOf } from './deterministic-random.ts'
import { isPermanent, PermanentError, RunLeft, StepError, StepTimeoutError } from './errors.ts'
import type { History, StepCall } from './history.ts'
import type { Holder } from './holder.ts'
import { enterStep, insideStep, recordedWhole, refuseInside, type InsideStep } from './inside-step.ts'
import { messageOf } from './outcome.ts'
import { reportFailedTry } from './report.ts'
import type { IdleDetector } from './idle.ts'
import { checkBy } from './schema.ts'
import { Due } from './sleeping.ts'
import { Try } from './try.ts'
import { StepPromise, type Unawaited } from './unawaited.ts'

type Work = (attempt: StepTry) => unknown

type Tried =
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: StepError }
  | { readonly kind: 'again'; readonly delayMs: number; readonly dueAt: number }

export class Steps {
  readonly #holder: Holder
  readonly #history: History
  readonly #idle: IdleDetector
  readonly #now: number
  readonly #unawaited: Unawaited
  readonly #stopping: Stopping
  readonly #tries = new Set<Try>()
  /** Still running when the code returned, and never awaited. */
  readonly #forgotten = new Set<StepCall>()
  #isOver = false

  /** `now` is the database's time at the claim. */
  constructor(
    holder: Holder,
    history: History,
    idle: IdleDetector,
    now: number,
    unawaited: Unawaited,
    stopping: Stopping,
  ) {
    this.#holder = holder
    this.#history = history
    this.#idle = idle
    this.#now = now
    this.#unawaited = unawaited
    this.#stopping = stopping
  }

  /** The run is over: whatever of its steps is still under way works for nobody. */
  end(): void {
    this.#isOver = true
    if (this.#tries.size === 0) return
    const { executionId } = this.#holder.claim
    const sentence = `the run of ${executionId} has ended, so the result of this step is not used`
    const over = new EngineError('execution_not_active', sentence, { executionId })
    for (const attempt of this.#tries) attempt.stop(over)
  }

  /** The code returned without them: nothing else reports how they end. */
  forget(calls: readonly StepCall[]): void {
    for (const call of calls) this.#forgotten.add(call)
  }

  step(name: string, work: Work, options: StepOptions = noOptions): Promise<unknown> {
    let call: StepCall | null = null
    try {
      if (this.inside !== undefined) this.refuseInside(`the step ${show(name)}`, recordedWhole)
      const checked = checkOptions(name, options)
      if (typeof work !== 'function')
        throw refusal('invalid_input', `the work of step ${show(name)}`, show(work), 'a function')
      call = this.#history.reach('step', name)
      const { recorded } = call
      if (recorded === null || recorded.state === 'pending') {
        return this.#watch(name, call, this.#untilOver(call, work, checked))
      }
      const isPlain = checked.schema === undefined && recorded.state === 'succeeded'
      if (!isPlain || this.#mustWait(recorded)) {
        return this.#watch(name, call, this.#recorded(recorded, checked))
      }
      // A long history is made of these: one promise for each, and no turn of the event loop.
      const value = this.#valueOf(recorded)
      return new StepPromise(this.#unawaited, name, call, (resolve) =>
        process.nextTick(give, this.#history, recorded, resolve, value),
      )
    } catch (error) {
      return this.#watch(name, call, Promise.reject(error))
    }
  }

  #watch(name: string, call: StepCall | null, running: Promise<unknown>): Promise<unknown> {
    return StepPromise.of(this.#unawaited, name, call, running)
  }

  async #untilOver(call: StepCall, work: Work, checked: CheckedOptions): Promise<unknown> {
    const { recorded } = call
    let tryCount = recorded?.tryCount ?? 0
    this.#refuseStopped()
    const dueAt = recorded?.dueAt ?? null
    if (dueAt !== null) await this.#untilDue(dueAt, dueAt - this.#now)
    for (;;) {
      this.#refuseStopped()
      tryCount += 1
      const tried = await this.#idle.work(() => this.#try(call, work, tryCount, checked))
      if (tried.kind === 'done') return tried.value
      if (tried.kind === 'failed') throw tried.error
      await this.#untilDue(tried.dueAt, tried.delayMs)
    }
  }

  /** Undoes what a step did: tried like a step, and recorded under the name by which it was registered. */
  compensate({ call, work, options }: { call: StepCall; work: Work; options: CheckedOptions }): Promise<unknown> {
    return this.#untilOver(call, work, options)
  }

  // Not the try that runs: it may finish, and its result is recorded.
  #refuseStopped(): void {
    const stopped = this.#stopping.stopped()
    if (stopped !== null) throw stopped
  }

  /** Resolves when its turn has come: not before what is recorded earlier, where the code meets that as well. */
  inTurn(step: Step): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#mustWait(step)) process.nextTick(give, this.#history, step, resolve, undefined)
      else this.#idle.inOrder(step, () => give(this.#history, step, resolve, undefined))
    })
  }

  #mustWait(recorded: Step): boolean {
    return this.#history.isStrict || this.#history.hasUndeliveredBefore(recorded)
  }

  async #recorded(step: Step, { schema }: CheckedOptions): Promise<unknown> {
    await this.inTurn(step)
    const value = this.#valueOf(step)
    if (schema === undefined) return value
    return this.#idle.ask(() => checkBy(schema, value, recordedValue(step), 'step_value_refused'))
  }

  #valueOf(step: Step): unknown {
    const { name, state, result, resultEncoding } = step
    if (state === 'failed') throw stepError(this.#holder, name, { bytes: result!, encoding: resultEncoding! })
    return this.#holder.decode(recordedValue(step), result, resultEncoding)
  }

  async #untilDue(dueAt: number, inMs: number): Promise<void> {
    if (inMs > this.#holder.clock.longestPauseMs) return new Due(dueAt, this.#idle)
    if (inMs <= 0) return
    const signal = this.#holder.lease.lost
    await this.#idle.work(() => sleep(inMs, undefined, { signal }).catch(() => {}))
  }

  async #try(call: StepCall, work: Work, tryCount: number, options: CheckedOptions): Promise<Tried> {
    // The run is over when the lease is lost, and nothing of it continues.
    if (!this.#holder.lease.holds()) return new Promise(() => {})
    const startedAt = performance.now()
    const told = (): { tryCount: number; durationMs: number } => {
      return { tryCount, durationMs: Math.round(performance.now() - startedAt) }
    }
    const key = this.idempotencyKey(call.name, call.index)
    const attempt = new Try(this.#holder.lease, key, tryCount, this.#stopping.canStop)
    this.#tries.add(attempt)
    try {
      const value = await this.#run(call, work, attempt, options)
      const encoded = encode(this.#holder, call.name, value)
      // As every later run will see it, so that nothing works only the first time. Before the record, which is for good.
      const read = encoded === null || isPlain(value) ? value : this.#holder.codec.decode(encoded)
      const { schema } = options
      const shown = schema === undefined ? read : await checkBy(schema, read, storedResult(call), 'step_output_refused')
      const result = encoded === null ? {} : { result: encoded.bytes, resultEncoding: encoded.encoding }
      const recording = this.#holder.record(call, { state: 'succeeded', ...told(), ...result })
      await this.#idle.recorded(recording).catch(asNotOfTheStep)
      return { kind: 'done', value: shown }
    } catch (thrown) {
      if (thrown instanceof NotOfTheStep) throw thrown.cause
      // The word by which the code ends its run, as anywhere else.
      if (thrown instanceof RunLeft) throw thrown
      // What fails because the lease is gone, or the run is over, says nothing of the step.
      this.#holder.lease.throwIfLost()
      if (this.#isOver) {
        this.#warnOfLate(call, thrown, attempt)
        throw thrown
      }
      return this.#failed(call, thrown, told(), options)
    } finally {
      this.#tries.delete(attempt)
    }
  }

  /** It failed because it was told to stop, or by itself: the second is a failure that the run does not have. */
  #warnOfLate(call: StepCall, thrown: unknown, { signal }: StepTry): void {
    if (!this.#forgotten.has(call) || thrown === signal.reason) return
    const { executionId } = this.#holder.claim
    this.#holder.logger.warn(
      `step ${show(call.name)} of ${executionId} failed after its run had returned without awaiting it: ${messageOf(thrown)}`,
    )
  }

  async #failed(
    call: StepCall,
    thrown: unknown,
    told: { readonly tryCount: number; readonly durationMs: number },
    { policy }: CheckedOptions,
  ): Promise<Tried> {
    const isForGood = isPermanent(thrown)
    const category = thrown instanceof StepTimeoutError ? 'timeout' : 'transient'
    const { bytes, encoding } = encodeError(thrown, this.#holder.codec, isForGood)
    const failure = { ...told, result: bytes, resultEncoding: encoding }
    const report = (retryInMs: number | null): void => {
      const tries = { step: call.name, tryCount: told.tryCount, maxTries: policy?.retry?.attempts ?? 1, retryInMs }
      reportFailedTry(this.#holder.logger, this.#holder.lease, thrown, tries)
    }
    if (!shouldRetry(policy, told.tryCount - 1, category, isForGood)) {
      await this.#idle.recorded(this.#holder.record(call, { state: 'failed', ...failure }))
      report(null)
      return { kind: 'failed', error: stepError(this.#holder, call.name, { bytes, encoding }) }
    }
    const delayMs = retryDelayMs(policy, told.tryCount - 1, Math.random())
    // Before the next try, so that a crash does not give this one back.
    const { dueAt } = await this.#holder.record(call, { state: 'pending', ...failure, dueIn: delayMs })
    report(delayMs)
    return { kind: 'again', delayMs, dueAt: dueAt! }
  }

  async #run(call: StepCall, work: Work, attempt: Try, { timeoutMs, schema }: CheckedOptions): Promise<unknown> {
    const value = await this.#within(timeoutMs, call, work, attempt)
    return checkBy(schema, value, `the result of step ${JSON.stringify(call.name)}`, 'step_output_refused')
  }

  async #within(timeoutMs: number | null, call: StepCall, work: Work, attempt: Try): Promise<unknown> {
    if (timeoutMs === null) return this.#enter(call, work, attempt)
    const tooLong = new StepTimeoutError(`step ${JSON.stringify(call.name)} took longer than ${timeoutMs} ms`)
    let callOff = (): void => {}
    const late = new Promise<never>((_, reject) => {
      attempt.onStop = reject
      callOff = this.#holder.clock.limit(timeoutMs, () => attempt.stop(tooLong))
    })
    try {
      return await Promise.race([this.#enter(call, work, attempt), late])
    } finally {
      callOff()
    }
  }

  #enter({ name }: StepCall, work: Work, attempt: StepTry): unknown {
    const { aroundStep } = this.#holder
    const enter = (): unknown => enterStep(this, name, attempt, () => work(attempt))
    return aroundStep === undefined ? enter() : aroundStep(name, attempt.tryCount, enter)
  }

  /** The step that the code which asks is part of. */
  get inside(): InsideStep | undefined {
    return insideStep(this)
  }

  refuseInside(what: string, why?: string): void {
    refuseInside(this, what, why)
  }

  /**
   * What every run would ask for anew is not the same in all of them: a token is not given any more once its waitpoint is closed,
   * and the run that goes on with the answer would fail by it. What happens in a step happens once.
   */
  refuseOutside(what: string): void {
    if (this.#tries.size > 0) return
    const sentence = `${what} is read outside of a step, so every later run would read it again; read it in the step that sends it`
    throw new PermanentError(sentence, { cause: new EngineError('invalid_input', sentence) })
  }

  idempotencyKey(name: string, index: number): string {
    return idempotencyKeyOf(this.#holder.claim, name, index)
  }
}

/** Whether the run was asked to stop. */
interface Stopping {
  /** Thrown by steps that are not recorded yet; null while the run continues. */
  stopped(): Error | null
  /** False: nothing but the loss of the lease aborts its steps. */
  readonly canStop: boolean
}

export interface CheckedOptions {
  readonly policy: ExecutionPolicy | null
  readonly timeoutMs: number | null
  readonly schema: StepOptions['schema']
}

const noOptions: StepOptions = {}
const nothingChecked: CheckedOptions = { policy: null, timeoutMs: null, schema: undefined }

export function checkOptions(
  name: string,
  options: StepOptions,
  noun: 'step' | 'compensation' = 'step',
): CheckedOptions {
  if (options === noOptions) return nothingChecked
  refuseUnknownFields(`${noun} ${show(name)}`, options, ['retry', 'timeout', 'schema'])
  const { retry, timeout, schema } = options
  return {
    policy: retry === undefined ? null : parsePolicy({ retry }),
    timeoutMs: timeout === undefined ? null : parseDuration('timeout', timeout),
    schema,
  }
}

function give<T>(history: History, step: Step, resolve: (value: T) => void, value: T): void {
  history.delivered(step)
  resolve(value)
}

function storedResult({ name }: StepCall): string {
  return `the stored result of step ${JSON.stringify(name)}`
}

function recordedValue({ name }: Step): string {
  return `the recorded value of step "${name}"`
}

// Never tried again: the code is wrong, and the next try would give the same.
function encode(holder: Holder, name: string, value: unknown): Encoded | null {
  try {
    return encodeValue(holder.codec, `the result of step ${JSON.stringify(name)}`, value)
  } catch (error) {
    throw new PermanentError((error as Error).message, { cause: error })
  }
}

function stepError({ codec }: Holder, name: string, encoded: Encoded): StepError {
  return new StepError(name, decodeError(encoded, codec))
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** The record was refused: the run ends by it, and the step is not to blame. */
class NotOfTheStep extends Error {}

function asNotOfTheStep(cause: unknown): never {
  if (EngineError.is(cause, 'payload_too_large')) throw new PermanentError(cause.message, { cause })
  throw new NotOfTheStep('the record was refused', { cause })
}
