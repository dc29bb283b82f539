// Waits for a point in time: the end of a sleep, and the next try of a step that has failed.
import type { Condition } from '../model/condition.ts'
import type { Duration } from '../model/duration.ts'
import type { StepCall } from './history.ts'
import type { IdleDetector } from './idle.ts'
import type { WaitDeps } from './waiting.ts'
import { Leaf, type WaitFacts, type Satisfaction } from './waits.ts'

/** A point in time that is known from the start. */
export class Due extends Leaf<void> {
  readonly #dueAt: number

  constructor(dueAt: number, idle: IdleDetector) {
    super((wait) => idle.await(wait))
    this.#dueAt = dueAt
  }

  get label(): string {
    return 'the next try of a step'
  }

  get title(): string {
    return this.label
  }

  begin(): void {}

  override get dueAt(): number {
    return this.#dueAt
  }

  condition(): Condition {
    return { kind: 'time', at: this.#dueAt }
  }

  satisfiedBy({ now }: WaitFacts): Satisfaction | null {
    return now >= this.#dueAt ? { at: this.#dueAt } : null
  }

  // The try that follows is recorded.
  async record(): Promise<void> {}

  deliver(): void {
    this.settle()
  }
}

/** Its end is recorded when the code first reaches it, so that every later run waits for the same time. */
export class Sleep extends Leaf<void> {
  readonly #call: StepCall
  readonly #length: { readonly dueIn: Duration } | { readonly dueAt: number }
  readonly #deps: WaitDeps
  #dueAt: number | null
  #hasBegun = false

  constructor(call: StepCall, length: Sleep['length'], deps: WaitDeps) {
    super((wait) => deps.idle.await(wait))
    this.#call = call
    this.#length = length
    this.#deps = deps
    this.#dueAt = call.recorded?.dueAt ?? null
  }

  get label(): string {
    return this.#call.name
  }

  get title(): string {
    return `sleep ${JSON.stringify(this.label)}`
  }

  get length(): { readonly dueIn: Duration } | { readonly dueAt: number } {
    return this.#length
  }

  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const { recorded } = this.#call
    if (recorded?.state === 'succeeded') this.#deps.idle.inOrder(recorded, () => this.deliver())
    else if (recorded === null)
      this.#deps.idle.fresh(() => this.#recordEnd()).catch((error: unknown) => this.refuse(error))
  }

  async #recordEnd(): Promise<void> {
    const { dueAt } = await this.#deps.holder.record(this.#call, { state: 'pending', ...this.#length })
    this.#dueAt = dueAt
  }

  override get dueAt(): number | null {
    return this.#dueAt
  }

  condition(): Condition | null {
    return this.isSettled || this.#dueAt === null ? null : { kind: 'time', at: this.#dueAt }
  }

  satisfiedBy({ now }: WaitFacts): Satisfaction | null {
    return this.#dueAt !== null && now >= this.#dueAt ? { at: this.#dueAt } : null
  }

  async record(): Promise<void> {
    await this.#deps.holder.record(this.#call, { state: 'succeeded', dueAt: this.#dueAt! })
  }

  deliver(): void {
    this.#deps.delivered()
    this.satisfy()
  }
}
