// The steps of a run. A step with a recorded result returns it; any other step runs, and its result is recorded. The last failure of a
// step is recorded too, so that code that caught it takes the same path in every run.
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

type StepWork = (attempt: StepTry) => unknown

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

  /** The run is over. The result of a step that is still running is not used, so its signal aborts. */
  end(): void {
    this.#isOver = true
    if (this.#tries.size === 0) return
    const { executionId } = this.#holder.claim
    const sentence = `the run of ${executionId} has ended, so the result of this step is not used`
    const over = new EngineError('execution_not_active', sentence, { executionId })
    for (const attempt of this.#tries) attempt.stop(over)
  }

  /** The code returned without awaiting these steps. Only a warning can report how they end. */
  forget(calls: readonly StepCall[]): void {
    for (const call of calls) this.#forgotten.add(call)
  }

  step(name: string, work: StepWork, options: StepOptions = noOptions): Promise<unknown> {
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
      // A long history has many of these. Each costs one promise, and no turn of the event loop.
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

  async #untilOver(call: StepCall, work: StepWork, checked: CheckedOptions): Promise<unknown> {
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

  /** Runs a compensation: tried like a step, and recorded under the name by which it was registered. */
  compensate({ call, work, options }: { call: StepCall; work: StepWork; options: CheckedOptions }): Promise<unknown> {
    return this.#untilOver(call, work, options)
  }

  // A try that is running may finish, and its result is recorded.
  #refuseStopped(): void {
    const stopped = this.#stopping.stopped()
    if (stopped !== null) throw stopped
  }

  /** Resolves when it is the step's turn: after all earlier records that the code reaches too. */
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

  async #try(call: StepCall, work: StepWork, tryCount: number, options: CheckedOptions): Promise<Tried> {
    // The run is over when the lease is lost, and nothing of it continues.
    if (!this.#holder.lease.holds()) return new Promise(() => {})
    const startedAt = performance.now()
    const timing = (): { tryCount: number; durationMs: number } => {
      return { tryCount, durationMs: Math.round(performance.now() - startedAt) }
    }
    const key = this.idempotencyKey(call.name, call.index)
    const attempt = new Try(this.#holder.lease, key, tryCount, this.#stopping.canStop)
    this.#tries.add(attempt)
    try {
      const value = await this.#run(call, work, attempt, options)
      const encoded = encode(this.#holder, call.name, value)
      // The code gets the value as every later run will read it, so that nothing works in the first run only. Before the record, which
      // is final.
      const read = encoded === null || isPlain(value) ? value : this.#holder.codec.decode(encoded)
      const { schema } = options
      const shown = schema === undefined ? read : await checkBy(schema, read, storedResult(call), 'step_output_refused')
      const result = encoded === null ? {} : { result: encoded.bytes, resultEncoding: encoded.encoding }
      const recording = this.#holder.record(call, { state: 'succeeded', ...timing(), ...result })
      await this.#idle.recorded(recording).catch(asRecordRefused)
      return { kind: 'done', value: shown }
    } catch (thrown) {
      if (thrown instanceof RecordRefused) throw thrown.cause
      // The code ended its run inside the step.
      if (thrown instanceof RunLeft) throw thrown
      // An error after the lease was lost, or after the run is over, is no failure of the step.
      this.#holder.lease.throwIfLost()
      if (this.#isOver) {
        this.#warnOfLate(call, thrown, attempt)
        throw thrown
      }
      return this.#failed(call, thrown, timing(), options)
    } finally {
      this.#tries.delete(attempt)
    }
  }

  /** Warns when the step failed by itself and not because its signal aborted: the outcome of the run does not show that failure. */
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
    timing: { readonly tryCount: number; readonly durationMs: number },
    { policy }: CheckedOptions,
  ): Promise<Tried> {
    const isForGood = isPermanent(thrown)
    const category = thrown instanceof StepTimeoutError ? 'timeout' : 'transient'
    const { bytes, encoding } = encodeError(thrown, this.#holder.codec, isForGood)
    const failure = { ...timing, result: bytes, resultEncoding: encoding }
    const report = (retryInMs: number | null): void => {
      const tries = { step: call.name, tryCount: timing.tryCount, maxTries: policy?.retry?.attempts ?? 1, retryInMs }
      reportFailedTry(this.#holder.logger, this.#holder.lease, thrown, tries)
    }
    if (!shouldRetry(policy, timing.tryCount - 1, category, isForGood)) {
      await this.#idle.recorded(this.#holder.record(call, { state: 'failed', ...failure }))
      report(null)
      return { kind: 'failed', error: stepError(this.#holder, call.name, { bytes, encoding }) }
    }
    const delayMs = retryDelayMs(policy, timing.tryCount - 1, Math.random())
    // Recorded before the next try, so that a try counts even if the process crashes after it.
    const { dueAt } = await this.#holder.record(call, { state: 'pending', ...failure, dueIn: delayMs })
    report(delayMs)
    return { kind: 'again', delayMs, dueAt: dueAt! }
  }

  async #run(call: StepCall, work: StepWork, attempt: Try, { timeoutMs, schema }: CheckedOptions): Promise<unknown> {
    const value = await this.#within(timeoutMs, call, work, attempt)
    return checkBy(schema, value, `the result of step ${JSON.stringify(call.name)}`, 'step_output_refused')
  }

  async #within(timeoutMs: number | null, call: StepCall, work: StepWork, attempt: Try): Promise<unknown> {
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

  #enter({ name }: StepCall, work: StepWork, attempt: StepTry): unknown {
    const { aroundStep } = this.#holder
    const enter = (): unknown => enterStep(this, name, attempt, () => work(attempt))
    return aroundStep === undefined ? enter() : aroundStep(name, attempt.tryCount, enter)
  }

  /** The step that the calling code is part of. */
  get inside(): InsideStep | undefined {
    return insideStep(this)
  }

  refuseInside(what: string, why?: string): void {
    refuseInside(this, what, why)
  }

  /**
   * Refuses to read a token or link outside a step. There every run would read it again, and it cannot be read any more once its
   * waitpoint is closed: the run that resumes with the signal would fail.
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

/** Whether the run is asked to stop. */
interface Stopping {
  /** The error that steps without a record throw; null while the run may continue. */
  stopped(): Error | null
  /** False: only the loss of the lease aborts its steps. */
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

// Not retried: the next try would return a value that cannot be encoded either.
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

/** The engine refused the record. The run ends with that error, and the step has not failed. */
class RecordRefused extends Error {}

function asRecordRefused(cause: unknown): never {
  if (EngineError.is(cause, 'payload_too_large')) throw new PermanentError(cause.message, { cause })
  throw new RecordRefused('the record was refused', { cause })
}
