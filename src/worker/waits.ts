// Where durable code waits. A leaf is one thing to wait for: a signal, a point in time. Leaves and groups of them (`all`, `any`,
// `race`) are lazy: nothing happens until they are awaited.
import type { Signal } from '../engine/waiting/signal-row.ts'
import type { Step } from '../engine/step/step.ts'
import type { Resumption } from '../engine/waiting/suspension/resumption.ts'
import type { Condition } from '../model/condition.ts'
import type { Wait } from './context.ts'
import { WaitTimeoutError, type SatisfiedWait } from './errors.ts'
import { StepPromise, type Unawaited, type WatchedWork } from './unawaited.ts'

/** WaitFacts that may satisfy a wait: the database's time, and signals. */
export interface WaitFacts {
  readonly now: number
  /** The signals that resumed this run and that no wait has taken yet. */
  readonly signals: readonly Signal[]
}

/** The facts at the start of a run. Signals that an earlier run has recorded are taken. */
export function factsAt(claimedAt: number, resumption: Resumption | null, steps: readonly Step[]): WaitFacts {
  if (resumption === null) return { now: claimedAt, signals: noSignals }
  const taken = new Set(steps.map(({ originId }) => originId))
  const signals = resumption.signals.filter((signal) => !taken.has(signal.signalId))
  return { now: Math.max(claimedAt, resumption.resumedAt), signals }
}

const noSignals: WaitFacts['signals'] = []

/** The time at which a leaf was satisfied, and the signal that did it. */
export interface Satisfaction {
  readonly at: number
  readonly signal?: Signal
}

export abstract class Awaitable<T> implements Wait<T>, WatchedWork {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly promise: Promise<T>
  protected settle!: (value: T) => void
  protected refuse!: (error: unknown) => void
  isSettled = false
  readonly #onAwaited: (wait: Awaitable<unknown>) => void
  #isAwaited = false
  #unawaited: Unawaited | null = null

  constructor(onAwaited: (wait: Awaitable<unknown>) => void) {
    this.#onAwaited = onAwaited
    this.promise = new Promise<T>((resolve, reject) => {
      this.settle = (value) => {
        this.isSettled = true
        resolve(value)
      }
      this.refuse = (error) => {
        this.isSettled = true
        reject(error)
      }
    })
    // Code that awaits it receives the rejection. The loser of a race may have no handler.
    this.promise.catch(() => {})
  }

  /** The wait in a message: `sleep "pause"`. */
  abstract get title(): string

  get progress(): WatchedWork['progress'] {
    return this.isSettled ? 'done' : 'waiting'
  }

  /** The run reports the wait if the code returns without having awaited it. */
  watchedBy(unawaited: Unawaited): this {
    this.#unawaited = unawaited
    unawaited.add(this)
    return this
  }

  /** The code awaits it, or passes it to a group. */
  handedOn(): void {
    this.#unawaited?.delete(this)
  }

  /** The run is asked to stop, and the wait rejects. */
  stop(error: unknown): void {
    this.refuse(error)
  }

  /** Begins to wait, alone or as a member of a group. May be called several times. */
  abstract begin(): void
  /** The leaves under it that are not satisfied yet. */
  abstract leaves(): readonly Leaf[]
  /** All leaves under it. */
  abstract allLeaves(): readonly Leaf[]
  /** The condition that satisfies it; null: it waits for nothing any more. */
  abstract condition(): Condition | null

  // Waits are lazy: waiting begins with the first call of `then`.
  // oxlint-disable-next-line unicorn/no-thenable
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    if (!this.#isAwaited) {
      this.#isAwaited = true
      this.handedOn()
      this.#onAwaited(this as Awaitable<unknown>)
    }
    return this.promise.then(onFulfilled, onRejected)
  }

  catch<Other = never>(onRejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null): Promise<T | Other> {
    return this.then(null, onRejected)
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then(null).finally(onFinally ?? undefined)
  }
}

/** One thing to wait for. */
export abstract class Leaf<T = unknown> extends Awaitable<T> {
  /** Its value; null before it is satisfied, and when it timed out. */
  given: SatisfiedWait | null = null

  /** Its name in the code. */
  abstract get label(): string

  leaves(): readonly Leaf[] {
    return this.isSettled ? [] : [this as Leaf]
  }

  allLeaves(): readonly Leaf[] {
    return [this as Leaf]
  }

  protected satisfy(value: T): void {
    this.given = { wait: this.label, value }
    this.settle(value)
  }

  /** Reads from the engine before the leaf is compared with the facts. */
  async refresh(): Promise<void> {}
  /** Null: the facts do not satisfy it. */
  abstract satisfiedBy(facts: WaitFacts): Satisfaction | null
  /** Records that it is satisfied. */
  abstract record(satisfaction: Satisfaction): Promise<void>
  /** Settles the promise of the code. */
  abstract deliver(satisfaction: Satisfaction): void
  /** The time, where the leaf waits for nothing but a point in time. */
  get dueAt(): number | null {
    return null
  }
}

export type Join = 'all' | 'any' | 'race'

/** Members may be plain promises. They count for the result, and do not resume a suspended run. */
export class Group extends Awaitable<unknown> {
  readonly #join: Join
  readonly #members: readonly unknown[]
  #hasBegun = false

  constructor(join: Join, members: readonly unknown[], onAwaited: (wait: Awaitable<unknown>) => void) {
    super(onAwaited)
    this.#join = join
    this.#members = members
    for (const member of members) {
      if (member instanceof Awaitable) member.handedOn()
      else if (member instanceof StepPromise) member.handedOn()
    }
  }

  get title(): string {
    const labels = this.allLeaves().map(({ label }) => JSON.stringify(label))
    const few = labels.slice(0, 5).join(', ') + (labels.length > 5 ? ', ...' : '')
    return `ctx.${this.#join}${few === '' ? '' : ` of ${few}`}`
  }

  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const promises = this.#members.map((member) => (member instanceof Awaitable ? (member.promise as unknown) : member))
    for (const wait of this.#waits) wait.begin()
    const joined = joinOf[this.#join](promises)
    joined.then(this.settle, (error: unknown) => this.refuse(this.#withDecision(error)))
  }

  /** Adds to the timeout of a member which other members were satisfied. This is the same in every run, as results come in record order. */
  #withDecision(error: unknown): unknown {
    if (!(error instanceof WaitTimeoutError)) return error
    const leaves = this.allLeaves()
    if (!leaves.some(({ label }) => label === error.wait)) return error
    const satisfied = leaves.flatMap(({ given }) => given ?? [])
    const unsatisfied = leaves.filter(({ given }) => given === null).map(({ label }) => label)
    return new WaitTimeoutError(error.wait, satisfied, unsatisfied)
  }

  leaves(): readonly Leaf[] {
    return this.isSettled ? [] : this.#waits.flatMap((wait) => wait.leaves())
  }

  allLeaves(): readonly Leaf[] {
    return this.#waits.flatMap((wait) => wait.allLeaves())
  }

  condition(): Condition | null {
    if (this.isSettled) return null
    const conditions = this.#waits.map((wait) => wait.condition())
    return joinConditions(this.#join === 'all' ? 'allOf' : 'anyOf', conditions)
  }

  get #waits(): readonly Awaitable<unknown>[] {
    return this.#members.filter((member) => member instanceof Awaitable)
  }
}

const joinOf: Readonly<Record<Join, (promises: readonly unknown[]) => Promise<unknown>>> = {
  all: (promises) => Promise.all(promises),
  any: (promises) => Promise.any(promises),
  race: (promises) => Promise.race(promises),
}

/** Merges members of the same kind into one node, and leaves out nodes with a single member. */
export function joinConditions(kind: 'allOf' | 'anyOf', conditions: readonly (Condition | null)[]): Condition | null {
  const members = conditions.flatMap((condition) => {
    if (condition === null) return []
    return condition.kind === kind ? condition.members : [condition]
  })
  if (members.length === 0) return null
  return members.length === 1 ? members[0]! : { kind, members }
}
