// Where durable code waits. A leaf is one thing to wait for: a signal, a point in time. Leaves and groups of them (`all`, `any`,
// `race`) are lazy: nothing happens until they are awaited.
import type { Signal } from '../engine/waiting/signal-row.ts'
import type { Step } from '../engine/step/step.ts'
import type { Resumption } from '../engine/waiting/suspension/resumption.ts'
import type { Condition } from '../model/condition.ts'
import type { Wait } from './context.ts'
import { WaitTimeoutError, type SatisfiedWait } from './errors.ts'
import { StepPromise, type Unawaited, type Watched } from './unawaited.ts'

/** What is known to have happened, in the database's clock. */
export interface Facts {
  readonly now: number
  /** Those that woke this run, and were not taken by a wait yet. */
  readonly signals: readonly Signal[]
}

/** What is known at the start: the time of the claim, and the signals that woke it and that no wait has taken yet. */
export function factsAt(claimedAt: number, resumption: Resumption | null, steps: readonly Step[]): Facts {
  if (resumption === null) return { now: claimedAt, signals: noSignals }
  const taken = new Set(steps.map(({ originId }) => originId))
  const signals = resumption.signals.filter((signal) => !taken.has(signal.signalId))
  return { now: Math.max(claimedAt, resumption.resumedAt), signals }
}

const noSignals: Facts['signals'] = []

/** What a leaf was met by, and when. */
export interface Satisfaction {
  readonly at: number
  readonly signal?: Signal
}

export abstract class Awaitable<T> implements Wait<T>, Watched {
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
    // Whoever awaits it hears of a refusal; a loser of a race is nobody's fault.
    this.promise.catch(() => {})
  }

  /** As a sentence names it. */
  abstract get title(): string

  get progress(): Watched['progress'] {
    return this.isSettled ? 'done' : 'waiting'
  }

  /** Reported when the code returns without having awaited it. */
  watchedBy(unawaited: Unawaited): this {
    this.#unawaited = unawaited
    unawaited.add(this)
    return this
  }

  /** Awaited by itself, or handed to a group. */
  handedOn(): void {
    this.#unawaited?.delete(this)
  }

  /** The run is asked to stop: it is not waited for any more. */
  stop(error: unknown): void {
    this.refuse(error)
  }

  /** Begins to wait, as a member of a group or by itself. Called once or more. */
  abstract begin(): void
  /** The leaves under it that are still to be met. */
  abstract leaves(): readonly Leaf[]
  /** The leaves under it, also those that are over. */
  abstract allLeaves(): readonly Leaf[]
  /** What it waits for; null once there is nothing. */
  abstract condition(): Condition | null

  // Laziness is the point: awaiting begins where it is called.
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
  /** What it gave; null before that, and when it timed out. */
  given: SatisfiedWait | null = null

  /** As the code calls it. */
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

  /** Asks for what only the database knows, before it is held against the facts. */
  async refresh(): Promise<void> {}
  /** How the facts meet it; null when they do not. */
  abstract satisfiedBy(facts: Facts): Satisfaction | null
  /** Writes down that it was met. */
  abstract record(satisfaction: Satisfaction): Promise<void>
  /** Gives the code what it waits for. */
  abstract deliver(satisfaction: Satisfaction): void
  /** A point in time and nothing else. */
  get dueAt(): number | null {
    return null
  }
}

export type Join = 'all' | 'any' | 'race'

/** Members that are no waits are promises like any other: they are listened to, and wake nobody. */
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

  /** A timeout of one of its waits tells what became of the others. The same in every run: results come in the order of records. */
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

/** Without a node that says nothing: what is in it goes into the one around it. */
export function joinConditions(kind: 'allOf' | 'anyOf', conditions: readonly (Condition | null)[]): Condition | null {
  const members = conditions.flatMap((condition) => {
    if (condition === null) return []
    return condition.kind === kind ? condition.members : [condition]
  })
  if (members.length === 0) return null
  return members.length === 1 ? members[0]! : { kind, members }
}
