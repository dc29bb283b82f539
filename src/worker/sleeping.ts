// Points in time that code waits for: the end of a sleep, and the next try of a step that has failed.
import type { Condition } from '../model/condition.ts'
import type { Duration } from '../model/duration.ts'
import type { Met } from './history.ts'
import type { Holder } from './holder.ts'
import type { Rest } from './rest.ts'
import { Leaf, type Facts, type Meeting } from './waits.ts'

/** A point in time that is known from the start. */
export class Due extends Leaf<void> {
  readonly #dueAt: number

  constructor(dueAt: number, rest: Rest) {
    super((wait) => rest.await(wait))
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

  metBy({ now }: Facts): Meeting | null {
    return now >= this.#dueAt ? { at: this.#dueAt } : null
  }

  // The try that follows is recorded.
  async record(): Promise<void> {}

  give(): void {
    this.settle()
  }
}

/** When it ends is written down when it is first met, so that every later run waits for the same time. */
export class Sleep extends Leaf<void> {
  readonly #met: Met
  readonly #length: { readonly dueIn: Duration } | { readonly dueAt: number }
  readonly #holder: Holder
  readonly #rest: Rest
  readonly #delivered: () => void
  #dueAt: number | null
  #hasBegun = false

  constructor(met: Met, length: Sleep['length'], holder: Holder, rest: Rest, delivered: () => void) {
    super((wait) => rest.await(wait))
    this.#met = met
    this.#length = length
    this.#holder = holder
    this.#rest = rest
    this.#delivered = delivered
    this.#dueAt = met.recorded?.dueAt ?? null
  }

  get label(): string {
    return this.#met.name
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
    const { recorded } = this.#met
    if (recorded?.state === 'succeeded') this.#rest.inOrder(recorded, () => this.give())
    else if (recorded === null) this.#rest.fresh(() => this.#lieDown()).catch((error: unknown) => this.refuse(error))
  }

  async #lieDown(): Promise<void> {
    const { dueAt } = await this.#holder.record(this.#met, { state: 'pending', ...this.#length })
    this.#dueAt = dueAt
  }

  override get dueAt(): number | null {
    return this.#dueAt
  }

  condition(): Condition | null {
    return this.isSettled || this.#dueAt === null ? null : { kind: 'time', at: this.#dueAt }
  }

  metBy({ now }: Facts): Meeting | null {
    return this.#dueAt !== null && now >= this.#dueAt ? { at: this.#dueAt } : null
  }

  async record(): Promise<void> {
    await this.#holder.record(this.#met, { state: 'succeeded', dueAt: this.#dueAt! })
  }

  give(): void {
    this.#delivered()
    this.satisfy()
  }
}
