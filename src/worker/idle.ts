// Notices when durable code rests: nothing of it runs, and it awaits something that has not happened. Then whatever it awaits is
// one condition, and the run leaves its worker.
//
//   work begins and ends ──► nothing runs, something is awaited ──► a turn of the event loop later, still so
//        ▲                                                             │
//        │     met by what is known: recorded, and given one by one ◄──┤
//        └─────────────────────────────────────────────────────────    └──► not met: suspended, or delayed
//
// What was over in an earlier run is given in the order in which it was recorded then. What is recorded now comes behind that, in
// the order of its records; what is met now, only at rest. Results are given one by one: all that the code makes of one comes
// before the next. So a race has the same winner in every run, however many promises stand between a result and the race.
import type { Signal } from '../engine/waiting/signal-row.ts'
import type { Step } from '../engine/step/step.ts'
import { NoRecord } from './no-record.ts'
import type { Awaitable, Facts, Leaf, Satisfaction } from './waits.ts'

export interface IdleEffects {
  /** Gives up the lease; with the facts that make it stay instead, or null when it has left. */
  suspend(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[]): Promise<Facts | null>
  /** The record could not be written, or the wait not be made: the run has failed. */
  fail(error: unknown): void
  /** Thrown by new work and new waits; null while the run may continue. */
  stopped(): Error | null
}

/** What the code is to be given next. */
interface Result {
  /** Of its record; infinite when that is of this run. */
  readonly number: number
  readonly give: () => void
}

export class IdleDetector {
  readonly #effects: IdleEffects
  readonly #isReplaying: () => boolean
  #facts: Facts
  #busy = 0
  /** How much of that is soon over. */
  #asking = 0
  #isLooking = false
  readonly #awaited = new Set<Awaitable<unknown>>()
  #results: Result[] = []
  #isTurnTaken = false
  /** While the run is about to leave, what code begins elsewhere waits for whether it does. */
  #staying: Promise<void> | null = null
  /** Of a replay: something that the code began has no record, and is never over. */
  #noRecord: NoRecord | null = null
  #isOver = false

  /** `isReplaying`: whether something that was over in an earlier run is still to be given. */
  constructor(facts: Facts, isReplaying: () => boolean, effects: IdleEffects) {
    this.#facts = facts
    this.#isReplaying = isReplaying
    this.#effects = effects
  }

  /**
   * The run is over, or not this worker's any more. Code of it that is still under way never hears again: it may have branches
   * to which nobody listens, and a rejection that nobody hears ends the process.
   */
  end(): void {
    this.#isOver = true
    this.#results = []
    this.forget()
  }

  /** Whoever awaited something is over, and hears nothing of it; others may still work and wait. */
  forget(): void {
    this.#awaited.clear()
  }

  /** Something that runs: the code does not rest before it is over. */
  async work<T>(begin: () => Promise<T>): Promise<T> {
    if (this.#staying !== null) await this.#staying
    await this.#unlessOver()
    this.#busy += 1
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof NoRecord)) throw error
      this.#noRecord = error
    } finally {
      this.#busy -= 1
      await this.#unlessOver()
      this.#look()
    }
    return new Promise(() => {})
  }

  /** Work that no earlier run has recorded: refused once the run is asked to stop. */
  async fresh<T>(begin: () => Promise<T>): Promise<T> {
    const stopped = this.#effects.stopped()
    if (stopped !== null) throw stopped
    return this.work(begin)
  }

  /**
   * Work that is soon over and not recorded, such as a question to the engine. No result is given meanwhile: the code behind it
   * may be about to meet what comes first.
   */
  ask<T>(begin: () => Promise<T>): Promise<T> {
    return markHandled(this.#ask(begin))
  }

  async #ask<T>(begin: () => Promise<T>): Promise<T> {
    this.#asking += 1
    try {
      return await this.work(begin)
    } finally {
      this.#asking -= 1
      this.#giveNext()
    }
  }

  /**
   * What a record answers, in its turn. Records are answered in their order, so the turn is taken right then: how much the work
   * does with the answer before the code has it plays no part.
   */
  async recorded<T>(recording: Promise<T>): Promise<T> {
    const answer = await recording
    const isNext = !this.#isTurnTaken && this.#asking === 0 && this.#results.length === 0
    if (isNext && !this.#isReplaying()) this.#takeTurn()
    else await new Promise<void>((give) => this.#inLine({ number: Infinity, give }))
    return answer
  }

  await(wait: Awaitable<unknown>): void {
    this.#awaited.add(wait)
    wait.begin()
    this.#look()
  }

  /** Given in the order of the record, a turn of the event loop later, so that those that were met in one go can be sorted. */
  inOrder(step: Step, give: () => void): void {
    this.#inLine({ number: step.recordNumber, give })
  }

  #inLine(result: Result): void {
    this.#results.push(result)
    this.#giveNext()
  }

  #giveNext(): void {
    if (!this.#isTurnTaken && this.#asking === 0 && this.#results.length > 0) this.#takeTurn()
  }

  #takeTurn(): void {
    this.#isTurnTaken = true
    setImmediate(() => {
      this.#isTurnTaken = false
      if (this.#isOver || this.#asking > 0 || this.#results.length === 0) return
      const first = this.#results.reduce((one, other) => (other.number < one.number ? other : one))
      this.#results = this.#results.filter((each) => each !== first)
      first.give()
      this.#giveNext()
      this.#look()
    })
  }

  async #unlessOver(): Promise<void> {
    if (this.#isOver) await new Promise(() => {})
  }

  get #isResting(): boolean {
    if (this.#busy > 0 || this.#results.length > 0 || this.#isOver) return false
    return this.#awaited.size > 0 || this.#noRecord !== null
  }

  #look(): void {
    if (this.#isLooking || !this.#isResting) return
    this.#isLooking = true
    setImmediate(() => {
      this.#isLooking = false
      if (this.#isResting) void this.#idle()
    })
  }

  async #idle(): Promise<void> {
    for (const wait of this.#awaited) if (wait.isSettled) this.#awaited.delete(wait)
    const waits = [...this.#awaited]
    const leaves = [...new Set(waits.flatMap((wait) => wait.leaves()))]
    if (leaves.length === 0) {
      if (this.#noRecord !== null) this.#effects.fail(this.#noRecord)
      return
    }
    const stopped = this.#effects.stopped()
    if (stopped !== null) {
      this.forget()
      for (const wait of [...waits, ...leaves]) wait.stop(stopped)
      return
    }
    this.#busy += 1
    try {
      await Promise.all(leaves.map((leaf) => leaf.refresh()))
      const met = this.#meet(leaves)
      if (met.length > 0) await this.#give(met)
      else if (this.#hasSlept(waits)) await this.#suspend(waits, leaves)
    } catch (error) {
      // Or it would be tried again in every turn for as long as something goes on around the handler.
      this.forget()
      this.#effects.fail(error)
    } finally {
      this.#busy -= 1
    }
    this.#look()
  }

  /** While it was looked around, nothing was begun or awaited: else it is not at rest, or for more than was looked at. */
  #hasSlept(waits: readonly Awaitable<unknown>[]): boolean {
    return this.#busy === 1 && this.#results.length === 0 && this.#awaited.size === waits.length
  }

  /** In the order in which it happened. What came by name is for one wait; what came through a waitpoint, for all that wait at it. */
  #meet(leaves: readonly Leaf[]): [Leaf, Satisfaction][] {
    const met: [Leaf, Satisfaction][] = []
    const answers = new Set<Signal>()
    for (const leaf of leaves) {
      const satisfaction = leaf.satisfiedBy(this.#facts)
      if (satisfaction === null) continue
      met.push([leaf, satisfaction])
      const { signal } = satisfaction
      if (signal === undefined) continue
      if (signal.waitpointKey === null) this.#take((each) => each === signal)
      else answers.add(signal)
    }
    if (answers.size > 0) this.#take((each) => answers.has(each))
    return met.sort(([, one], [, other]) => one.at - other.at)
  }

  #take(isTaken: (signal: Signal) => boolean): void {
    this.#facts = { ...this.#facts, signals: this.#facts.signals.filter((signal) => !isTaken(signal)) }
  }

  async #give(met: readonly [Leaf, Satisfaction][]): Promise<void> {
    await Promise.all(met.map(([leaf, satisfaction]) => leaf.record(satisfaction)))
    for (const [leaf, satisfaction] of met) this.#inLine({ number: Infinity, give: () => leaf.deliver(satisfaction) })
  }

  async #suspend(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[]): Promise<void> {
    let decided = (): void => {}
    this.#staying = new Promise((resolve) => (decided = resolve))
    try {
      const facts = await this.#effects.suspend(waits, leaves)
      if (facts === null) return this.end()
      this.#facts = { now: Math.max(this.#facts.now, facts.now), signals: [...this.#facts.signals, ...facts.signals] }
    } finally {
      this.#staying = null
      decided()
    }
  }
}

/** It is told or recorded, whoever listens: what nobody awaits must not end the process. */
export function markHandled<T>(running: Promise<T>): Promise<T> {
  running.catch(() => {})
  return running
}
