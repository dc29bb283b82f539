// A wait for a signal: by name, or through the waitpoint of that name. The signal, or the timeout, is recorded, so that every later run
// receives the same.
import type { Condition } from '../model/condition.ts'
import { parseDuration } from '../model/duration.ts'
import { refusal } from '../model/errors.ts'
import type { WaitpointId } from '../model/id.ts'
import { refuseUnknownFields } from '../model/shape.ts'
import { show } from '../model/text.ts'
import type { WaitForOptions, Waitpoint } from './context.ts'
import { WaitTimeoutError } from './errors.ts'
import type { StepCall } from './history.ts'
import type { Holder } from './holder.ts'
import type { IdleDetector } from './idle.ts'
import { checkBy, refuseNonSchema } from './schema.ts'
import { joinConditions, Leaf, type WaitFacts, type Satisfaction } from './waits.ts'

export interface WaitDeps {
  readonly holder: Holder
  readonly idle: IdleDetector
  readonly delivered: () => void
}

/** Checks the arguments at the call. Otherwise some errors would appear only when the signal arrives, or when it does not. */
export function checkWait(what: string | Waitpoint, options: WaitForOptions): void {
  refuseUnknownFields('ctx.waitFor', options, ['schema', 'timeout', 'onTimeout'])
  const { schema, timeout, onTimeout } = options
  if (typeof what === 'object' && typeof what?.waitpointId !== 'string') {
    throw refusal(
      'invalid_input',
      'the argument of ctx.waitFor',
      show(what),
      'a name, or what `await ctx.waitpoint(name)` returned',
    )
  }
  if (timeout !== undefined) parseDuration('timeout', timeout)
  refuseNonSchema('schema', schema)
  if (onTimeout === undefined) return
  if (typeof onTimeout !== 'function') throw refusal('invalid_input', 'onTimeout', show(onTimeout), 'a function')
  if (timeout === undefined) {
    throw refusal('invalid_input', 'onTimeout', 'given without a timeout', 'left out, or given with one')
  }
}

export class SignalWait extends Leaf {
  readonly #call: StepCall
  readonly #options: WaitForOptions
  readonly #deps: WaitDeps
  /** Created before the wait, so that the code could send its token. */
  readonly waitpointId: WaitpointId | null
  #dueAt: number | null
  #hasBegun = false

  constructor(call: StepCall, options: WaitForOptions, waitpointId: WaitpointId | null, deps: WaitDeps) {
    super((wait) => deps.idle.await(wait))
    this.#call = call
    this.#options = options
    this.#deps = deps
    this.waitpointId = waitpointId
    this.#dueAt = call.recorded?.dueAt ?? null
  }

  /** The key of its waitpoint. No two waits share one, even if a name ends with a number. */
  get key(): string {
    const { name, index } = this.#call
    const isPlain = index === 0 && !/ \d+$/.test(name)
    return isPlain || this.waitpointId !== null ? name : `${name} ${index + 1}`
  }

  get label(): string {
    return this.#call.name
  }

  get title(): string {
    return `wait ${JSON.stringify(this.label)}`
  }

  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const { recorded } = this.#call
    const { timeout } = this.#options
    const { idle, holder } = this.#deps
    if (recorded !== null && recorded.state !== 'pending') {
      const { state, result, resultEncoding } = recorded
      idle.inOrder(recorded, () => this.#finish(state === 'timed_out', result, resultEncoding))
      return
    }
    if (recorded !== null || timeout === undefined) return
    const set = async (): Promise<void> => {
      const { dueAt } = await holder.record(this.#call, { state: 'pending', dueIn: timeout })
      this.#dueAt = dueAt
    }
    idle.fresh(set).catch((error: unknown) => this.refuse(error))
  }

  condition(): Condition | null {
    if (this.isSettled) return null
    return joinConditions('anyOf', [
      { kind: 'signal', waitpoint: this.key },
      { kind: 'signal', name: this.#call.name },
      this.#dueAt === null ? null : { kind: 'time', at: this.#dueAt },
    ])
  }

  satisfiedBy({ now, signals }: WaitFacts): Satisfaction | null {
    const signal = signals.find(({ waitpointKey, name }) =>
      waitpointKey === null ? name === this.#call.name : waitpointKey === this.key,
    )
    if (signal !== undefined) return { at: signal.acceptedAt, signal }
    return this.#dueAt !== null && now >= this.#dueAt ? { at: this.#dueAt } : null
  }

  async record({ signal }: Satisfaction): Promise<void> {
    const { holder } = this.#deps
    if (signal === undefined) {
      await holder.record(this.#call, { state: 'timed_out', dueAt: this.#dueAt! })
      return
    }
    const { signalId, payload, payloadEncoding } = signal
    await holder.record(this.#call, {
      state: 'succeeded',
      originId: signalId,
      ...(payload !== null && { result: payload, resultEncoding: payloadEncoding ?? 'json' }),
    })
  }

  deliver({ signal }: Satisfaction): void {
    this.#finish(signal === undefined, signal?.payload ?? null, signal?.payloadEncoding ?? null)
  }

  #finish(hasTimedOut: boolean, payload: Uint8Array | null, encoding: string | null): void {
    const { idle, delivered } = this.#deps
    delivered()
    if (hasTimedOut) return this.#timeOut()
    idle
      .ask(() => this.#value(payload, encoding))
      .then(
        (value) => this.satisfy(value),
        (error: unknown) => this.refuse(error),
      )
  }

  // `onTimeout` is part of the code, and may call the context.
  #timeOut(): void {
    const { onTimeout } = this.#options
    try {
      if (onTimeout === undefined) throw new WaitTimeoutError(this.#call.name)
      this.settle(onTimeout())
    } catch (error) {
      this.refuse(error)
    }
  }

  async #value(payload: Uint8Array | null, encoding: string | null): Promise<unknown> {
    const { schema } = this.#options
    const what = `the signal ${JSON.stringify(this.#call.name)}`
    const value = this.#deps.holder.decode(what, payload, encoding)
    // The record exists by now, so a refusal is the same in every later run.
    return checkBy(schema, value, what, 'step_value_refused')
  }
}
