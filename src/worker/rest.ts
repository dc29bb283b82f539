// Notices when durable code rests: nothing of it runs, and it awaits something that has not happened. Then whatever it awaits is
// one condition, and the run leaves its worker.
//
//   work begins and ends ──► nothing runs, something is awaited ──► a turn of the event loop later, still so
//        ▲                                                             │
//        │     met by what is known: recorded, and given one by one ◄──┤
//        └─────────────────────────────────────────────────────────    └──► not met: suspended, or delayed
//
// What was met in an earlier run is given in the order in which it was recorded then, and what is met now is given only at
// rest: so a race has the same winner in every run.
import type { Step } from '../engine/step/step.ts'
import type { Awaitable, Facts, Leaf, Meeting } from './waits.ts'

export interface Leaving {
  /** Gives up the lease; with the facts that make it stay instead, or null when it has left. */
  leave(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[]): Promise<Facts | null>
  /** The record could not be written, or the wait not be made: the run has failed. */
  fail(error: unknown): void
}

interface Recorded {
  readonly number: number
  readonly give: () => void
}

export class Rest {
  readonly #leaving: Leaving
  #facts: Facts
  #busy = 0
  #isLooking = false
  readonly #awaited = new Set<Awaitable<unknown>>()
  #recorded: Recorded[] = []
  #isGiving = false
  /** While the run is about to leave, what code begins elsewhere waits for whether it does. */
  #staying: Promise<void> | null = null
  #end: { readonly error: unknown } | 'quiet' | null = null

  constructor(facts: Facts, leaving: Leaving) {
    this.#facts = facts
    this.#leaving = leaving
  }

  /** What the code has done is no longer wanted. With an error, whatever it awaits is refused; else it never hears again. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? 'quiet' : { error }
    if (this.#end === 'quiet') return
    for (const wait of this.#awaited) for (const leaf of wait.leaves()) leaf.refuseWith(this.#end.error)
  }

  /** Whoever awaited something is over, and hears nothing of it; others may still work and wait. */
  forget(): void {
    this.#awaited.clear()
    this.#recorded = []
  }

  /** Something that runs: the code does not rest before it is over. */
  async work<T>(begin: () => Promise<T>): Promise<T> {
    if (this.#staying !== null) await this.#staying
    await this.#unlessOver()
    this.#busy += 1
    try {
      return await begin()
    } finally {
      this.#busy -= 1
      await this.#unlessOver()
      this.#look()
    }
  }

  await(wait: Awaitable<unknown>): void {
    this.#awaited.add(wait)
    wait.begin()
    this.#look()
  }

  /** Given in the order of the record, a turn of the event loop later, so that those that were met in one go can be sorted. */
  inOrder(step: Step, give: () => void): void {
    this.#recorded.push({ number: step.number, give })
    this.#giveNext()
  }

  #giveNext(): void {
    if (this.#isGiving || this.#recorded.length === 0) return
    this.#isGiving = true
    setImmediate(() => {
      this.#isGiving = false
      if (this.#end !== null) return
      const first = this.#recorded.reduce((one, other) => (other.number < one.number ? other : one))
      this.#recorded = this.#recorded.filter((each) => each !== first)
      first.give()
      this.#giveNext()
      this.#look()
    })
  }

  async #unlessOver(): Promise<void> {
    if (this.#end === null) return
    if (this.#end !== 'quiet') throw this.#end.error
    await new Promise(() => {})
  }

  get #isResting(): boolean {
    return this.#busy === 0 && this.#recorded.length === 0 && this.#end === null && this.#awaited.size > 0
  }

  #look(): void {
    if (this.#isLooking || !this.#isResting) return
    this.#isLooking = true
    setImmediate(() => {
      this.#isLooking = false
      if (this.#isResting) void this.#rest()
    })
  }

  async #rest(): Promise<void> {
    for (const wait of this.#awaited) if (wait.isSettled) this.#awaited.delete(wait)
    const waits = [...this.#awaited]
    const leaves = [...new Set(waits.flatMap((wait) => wait.leaves()))]
    if (leaves.length === 0) return
    this.#busy += 1
    try {
      await Promise.all(leaves.map((leaf) => leaf.look()))
      const met = this.#meet(leaves)
      if (met.length > 0) await this.#give(leaves, met)
      else await this.#leave(waits, leaves)
    } catch (error) {
      this.#leaving.fail(error)
    } finally {
      this.#busy -= 1
    }
    this.#look()
  }

  /** In the order in which it happened; a signal is for one wait. */
  #meet(leaves: readonly Leaf[]): [Leaf, Meeting][] {
    const met: [Leaf, Meeting][] = []
    for (const leaf of leaves) {
      const meeting = leaf.metBy(this.#facts)
      if (meeting === null) continue
      met.push([leaf, meeting])
      const { signal } = meeting
      if (signal === undefined) continue
      this.#facts = { ...this.#facts, signals: this.#facts.signals.filter((each) => each !== signal) }
    }
    return met.sort(([, one], [, other]) => one.at - other.at)
  }

  async #give(leaves: readonly Leaf[], met: readonly [Leaf, Meeting][]): Promise<void> {
    // A time that the code awaits alone is met again in every later run, and nothing can come before it.
    const isLone = leaves.length === 1 && leaves[0]!.dueAt !== null
    if (!isLone) await Promise.all(met.map(([leaf, meeting]) => leaf.record(meeting)))
    for (const [leaf, meeting] of met) {
      await this.#unlessOver()
      leaf.give(meeting)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async #leave(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[]): Promise<void> {
    let stay = (): void => {}
    this.#staying = new Promise((resolve) => (stay = resolve))
    const facts = await this.#leaving.leave(waits, leaves)
    if (facts === null) return this.end()
    this.#facts = { now: Math.max(this.#facts.now, facts.now), signals: [...this.#facts.signals, ...facts.signals] }
    this.#staying = null
    stay()
  }
}
