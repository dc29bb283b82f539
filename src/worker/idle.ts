// Detects that a run is idle: none of its work is running, and the code awaits something that has not happened. Everything that it
// awaits then becomes one condition, and the run suspends.
//
//   state        event                                       action                                        next state
//   ─────        ─────                                       ──────                                        ──────────
//   running      quiet: no work, no result queued, a wait    check in the next turn of the event loop      settling
//   settling     still quiet in that turn                    read what can satisfy the waits               checking
//   settling     not quiet any more                          -                                             running
//   checking     waits are satisfied                         record them, queue their results              running
//   checking     the run is asked to stop                    reject the waits                              running
//   checking     nothing to wait for, or new work or waits   -                                             running
//   checking     no wait is satisfied                        suspend; new work waits for the reply         suspending
//   suspending   a wait was satisfied meanwhile              add the facts                                 running
//   suspending   the run is suspended                        -                                             over
//   checking or  a call to the engine failed                 fail the run                                  running
//   suspending
//   any          the run ends                                drop all waits and results                    over
//
// Results reach the code through a queue: see `result-queue.ts`.
import type { Signal } from '../engine/waiting/signal-row.ts'
import type { Step } from '../engine/step/step.ts'
import { markHandled } from './mark-handled.ts'
import { NoRecord } from './no-record.ts'
import { ResultQueue } from './result-queue.ts'
import type { Awaitable, WaitFacts, Leaf, Satisfaction } from './waits.ts'

export interface IdleEffects {
  /** Suspends the run and returns null; or returns the facts that satisfy a wait, and the run keeps its lease. */
  suspend(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[]): Promise<WaitFacts | null>
  /** A record could not be written, or the run not be suspended. */
  fail(error: unknown): void
  /** The error that new work and new waits throw; null while the run may continue. */
  stopped(): Error | null
}

type State = 'running' | 'settling' | 'checking' | 'suspending' | 'over'

type Event = 'quiet' | 'still quiet' | 'disturbed' | 'unsatisfied' | 'continued' | 'ended'

// An event that a state does not list leaves it as it is.
const transitions: Readonly<Record<State, Partial<Record<Event, State>>>> = {
  running: { quiet: 'settling', ended: 'over' },
  settling: { 'still quiet': 'checking', disturbed: 'running', ended: 'over' },
  checking: { unsatisfied: 'suspending', continued: 'running', ended: 'over' },
  suspending: { continued: 'running', ended: 'over' },
  over: {},
}

export class IdleDetector {
  readonly #effects: IdleEffects
  readonly #isReplaying: () => boolean
  readonly #results = new ResultQueue(() => this.#checkSoon())
  readonly #awaited = new Set<Awaitable<unknown>>()
  #state: State = 'running'
  #facts: WaitFacts
  #workCount = 0
  /** Settles when the engine has replied to the request to suspend. */
  #suspending: Promise<void> | null = null
  /** Only in a replay: the code began work that has no record and so never ends. */
  #noRecord: NoRecord | null = null

  /** `isReplaying`: whether results of an earlier run are still to be delivered. */
  constructor(facts: WaitFacts, isReplaying: () => boolean, effects: IdleEffects) {
    this.#facts = facts
    this.#isReplaying = isReplaying
    this.#effects = effects
  }

  /**
   * The run is over, or this worker has lost it. Promises of code that is still running never settle: the code may have branches that
   * handle no rejection, and an unhandled rejection ends the process.
   */
  end(): void {
    this.#on('ended')
    this.#results.end()
    this.forget()
  }

  /** The code that awaited has ended. Other code of the run, such as middleware, may still work and wait. */
  forget(): void {
    this.#awaited.clear()
  }

  /** Runs work of the code. The run is not idle before the work has ended. */
  async work<T>(begin: () => Promise<T>): Promise<T> {
    if (this.#suspending !== null) await this.#suspending
    await this.#unlessOver()
    this.#workCount += 1
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof NoRecord)) throw error
      this.#noRecord = error
    } finally {
      this.#workCount -= 1
      await this.#unlessOver()
      this.#checkSoon()
    }
    return new Promise(() => {})
  }

  /** Runs work that no earlier run has recorded. Rejects once the run is asked to stop. */
  async fresh<T>(begin: () => Promise<T>): Promise<T> {
    const stopped = this.#effects.stopped()
    if (stopped !== null) throw stopped
    return this.work(begin)
  }

  /**
   * Runs short work that leaves no record, such as a read from the engine. No result is delivered meanwhile: the code behind it may be
   * about to reach the step whose result comes first.
   */
  ask<T>(begin: () => Promise<T>): Promise<T> {
    return markHandled(this.#ask(begin))
  }

  async #ask<T>(begin: () => Promise<T>): Promise<T> {
    this.#results.pause()
    try {
      return await this.work(begin)
    } finally {
      this.#results.resume()
    }
  }

  /**
   * Waits for the turn of a record that this run writes. The engine replies in the order of the records, so the turn is taken at the
   * reply: how long the work then takes to reach the code does not matter.
   */
  async recorded<T>(recording: Promise<T>): Promise<T> {
    const reply = await recording
    if (this.#results.isFree && !this.#isReplaying()) this.#results.takeTurn()
    else await new Promise<void>((resolve) => this.#results.push(Infinity, resolve))
    return reply
  }

  await(wait: Awaitable<unknown>): void {
    this.#awaited.add(wait)
    wait.begin()
    this.#checkSoon()
  }

  /** Delivers a result of an earlier run, in the order of the records. */
  inOrder(step: Step, deliver: () => void): void {
    this.#results.push(step.recordNumber, deliver)
  }

  #on(event: Event): void {
    this.#state = transitions[this.#state][event] ?? this.#state
  }

  async #unlessOver(): Promise<void> {
    if (this.#state === 'over') await new Promise(() => {})
  }

  get #isQuiet(): boolean {
    if (this.#workCount > 0 || !this.#results.isEmpty) return false
    return this.#awaited.size > 0 || this.#noRecord !== null
  }

  #checkSoon(): void {
    if (this.#state !== 'running' || !this.#isQuiet) return
    this.#on('quiet')
    setImmediate(() => {
      this.#on(this.#isQuiet ? 'still quiet' : 'disturbed')
      if (this.#state === 'checking') void this.#check()
    })
  }

  async #check(): Promise<void> {
    for (const wait of this.#awaited) if (wait.isSettled) this.#awaited.delete(wait)
    const waits = [...this.#awaited]
    const leaves = [...new Set(waits.flatMap((wait) => wait.leaves()))]
    const stopped = leaves.length === 0 ? null : this.#effects.stopped()
    if (leaves.length === 0 || stopped !== null) {
      this.#on('continued')
      if (stopped !== null) this.#reject(waits, leaves, stopped)
      else if (this.#noRecord !== null) this.#effects.fail(this.#noRecord)
      return
    }
    try {
      await Promise.all(leaves.map((leaf) => leaf.refresh()))
      const satisfied = this.#takeSatisfied(leaves)
      if (satisfied.length > 0) await this.#record(satisfied)
      else if (this.#isUndisturbed(waits)) await this.#suspend(waits, leaves)
    } catch (error) {
      // Without this the check would be repeated in every turn while middleware continues around the handler.
      this.forget()
      this.#effects.fail(error)
    }
    this.#on('continued')
    this.#checkSoon()
  }

  #reject(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[], stopped: Error): void {
    this.forget()
    for (const wait of [...waits, ...leaves]) wait.stop(stopped)
  }

  /** The code began nothing and awaits nothing more than before the check. */
  #isUndisturbed(waits: readonly Awaitable<unknown>[]): boolean {
    return this.#workCount === 0 && this.#results.isEmpty && this.#awaited.size === waits.length
  }

  /** In the order of time. A signal by name satisfies one wait; a signal through a waitpoint satisfies all waits for that waitpoint. */
  #takeSatisfied(leaves: readonly Leaf[]): [Leaf, Satisfaction][] {
    const satisfied: [Leaf, Satisfaction][] = []
    const throughWaitpoints = new Set<Signal>()
    for (const leaf of leaves) {
      const satisfaction = leaf.satisfiedBy(this.#facts)
      if (satisfaction === null) continue
      satisfied.push([leaf, satisfaction])
      const { signal } = satisfaction
      if (signal === undefined) continue
      if (signal.waitpointKey === null) this.#takeSignals((each) => each === signal)
      else throughWaitpoints.add(signal)
    }
    if (throughWaitpoints.size > 0) this.#takeSignals((each) => throughWaitpoints.has(each))
    return satisfied.sort(([, one], [, other]) => one.at - other.at)
  }

  #takeSignals(isTaken: (signal: Signal) => boolean): void {
    this.#facts = { ...this.#facts, signals: this.#facts.signals.filter((signal) => !isTaken(signal)) }
  }

  async #record(satisfied: readonly [Leaf, Satisfaction][]): Promise<void> {
    await Promise.all(satisfied.map(([leaf, satisfaction]) => leaf.record(satisfaction)))
    for (const [leaf, satisfaction] of satisfied) this.#results.push(Infinity, () => leaf.deliver(satisfaction))
  }

  async #suspend(waits: readonly Awaitable<unknown>[], leaves: readonly Leaf[]): Promise<void> {
    let replied = (): void => {}
    this.#suspending = new Promise((resolve) => (replied = resolve))
    this.#on('unsatisfied')
    try {
      const facts = await this.#effects.suspend(waits, leaves)
      if (facts === null) return this.end()
      this.#facts = { now: Math.max(this.#facts.now, facts.now), signals: [...this.#facts.signals, ...facts.signals] }
    } finally {
      this.#suspending = null
      replied()
    }
  }
}
