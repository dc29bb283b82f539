// The recorded steps of an execution, as a run of its code reaches them: by name, and those of one name in the order of their first
// use.
import type { Step } from '../engine/step/step.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { checkStepName, isForgotten, type StepKind } from '../model/step.ts'
import { show } from '../model/text.ts'

/** Where the code stands: a name that it met, and what was recorded under it. */
export interface Met {
  readonly kind: StepKind
  readonly name: string
  readonly index: number
  /** How many it had met before. */
  readonly place: number
  readonly recorded: Step | null
  /** Of a recorded child: its making, which has a place of its own in the order of the records. */
  readonly made: Step | null
  /** The attempt whose failure was recorded here, and is forgotten in this one. */
  readonly failedIn: number | null
}

/** Names of the steps of a hook begin with it. */
export const hookPrefix = 'hook: '

const none: ReadonlyMap<string, Step> = new Map()
const noneOf: Set<Step> = new Set()
const noSteps: readonly Step[] = []

export class History {
  readonly isStrict: boolean
  /** Of every name: the steps of a hook are not those of the handler. Empty for the handler. */
  readonly #prefix: string
  readonly #steps: ReadonlyMap<string, Step> = none
  readonly #forgotten: ReadonlyMap<string, Step> = none
  /** How often each name was met. */
  #counts: Map<string, number> | null = null
  #place = 0
  readonly #notMet: Set<Step> = noneOf
  /** The code has reached something that no earlier run has, or was given a result that no earlier run was given. */
  #hasProgress = false
  /** The newest record is a sleep or wait that has not ended: an earlier run has executed all code before its end. */
  readonly #endsInWait: boolean = false
  /** It has reached a wait without a record. */
  #hasMetWait = false
  /** What was over in an earlier run, in the order in which it was recorded then; children twice, with their making. */
  readonly #over: readonly Step[] = noSteps
  readonly #making: ReadonlyMap<Step, Step> = none as ReadonlyMap<never, Step>
  /** The first of them that was not given to this run yet, by its place in the list. */
  #first = 0
  /** Those behind it that were given all the same, because it is not met any more or late. */
  #givenAhead: Set<Step> | null = null
  readonly #byPlace: ReadonlyMap<number, Step> = none as ReadonlyMap<never, Step>

  /** The steps in the order of their records. */
  constructor(steps: readonly Step[], attemptIndex: number, isStrict: boolean, prefix = '') {
    this.isStrict = isStrict
    this.#prefix = prefix
    // A first run has no past, and there are many of those.
    if (steps.length === 0) return
    const known = steps.filter((step) => !isForgotten(step, attemptIndex))
    this.#steps = new Map(known.map((step) => [keyOf(step), step]))
    const failed = steps.filter((step) => step.state === 'failed' && isForgotten(step, attemptIndex))
    if (failed.length > 0) this.#forgotten = new Map(failed.map((step) => [keyOf(step), step]))
    this.#notMet = new Set(known)
    const newest = known.at(-1)
    this.#endsInWait = newest?.state === 'pending' && (newest.kind === 'sleep' || newest.kind === 'wait')
    const children = known.filter(({ madeRecordNumber }) => madeRecordNumber !== null)
    this.#over = known.filter(({ state }) => state !== 'pending')
    if (children.length > 0) {
      this.#making = new Map(children.map((step) => [step, { ...step, recordNumber: step.madeRecordNumber! }]))
      this.#over = [...this.#over, ...this.#making.values()].toSorted(
        (one, other) => one.recordNumber - other.recordNumber,
      )
    }
    this.#byPlace = new Map(isStrict ? known.map((step) => [step.place, step]) : [])
  }

  meet(kind: StepKind, given: string): Met {
    checkStepName(`the name of a ${kind}`, given)
    if (this.#prefix === '' && given.startsWith(hookPrefix)) {
      throw refusal(
        'invalid_input',
        `the name of a ${kind}`,
        show(given),
        `a name that does not begin with '${hookPrefix}'`,
      )
    }
    const name = `${this.#prefix}${given}`
    this.#counts ??= new Map()
    const index = this.#counts.get(name) ?? 0
    this.#counts.set(name, index + 1)
    const key = keyOf({ name, index })
    const recorded = this.#steps.get(key) ?? null
    const place = this.#place++
    if (this.isStrict) this.#refuseOther(kind, name, place, recorded)
    if (recorded !== null && recorded.kind !== kind) {
      const sentence = `${show(name)} is recorded as a ${recorded.kind}, but is now a ${kind}; give the new ${kind} another name`
      throw new EngineError('step_kind_conflict', sentence, { step: name, recorded: recorded.kind, kind })
    }
    if (recorded !== null) this.#notMet.delete(recorded)
    // A wait without a timeout is recorded when it ends, so an earlier run may have reached it too.
    if (recorded === null && kind === 'wait') this.#hasMetWait = true
    else if (recorded === null || (recorded.state === 'pending' && kind === 'step')) this.#hasProgress = true
    const failedIn = this.#forgotten.get(key)?.attemptIndex ?? null
    const made = recorded === null ? null : (this.#making.get(recorded) ?? null)
    return { kind, name, index, place, recorded, made, failedIn }
  }

  /** Null: it had no record yet. */
  delivered(step: Step | null): void {
    if (step === null || step.state === 'pending') this.#hasProgress = true
    if (step === null) return
    if (step !== this.#over[this.#first]) {
      this.#givenAhead ??= new Set()
      this.#givenAhead.add(step)
      return
    }
    do this.#first += 1
    while (this.#givenAhead?.has(this.#over[this.#first]!) === true)
  }

  /** Whether something that was over earlier is still to come. */
  get isReplaying(): boolean {
    return this.#first < this.#over.length
  }

  /**
   * Whether an earlier run has executed the code that runs now: a record lies ahead of it, or the wait that the run continues after.
   * `isAfterWait`: the run continues after a wait whose end is not recorded yet.
   */
  isRepeating(isAfterWait: boolean): boolean {
    const isWaited = isAfterWait || this.#endsInWait
    if (this.#hasProgress || (this.#hasMetWait && !isWaited)) return false
    return isWaited || this.isReplaying || this.#notMet.size > 0
  }

  /** Whether the last record is not older. */
  isRecordedSince(time: number): boolean {
    return [...this.#steps.values()].some(({ recordedAt }) => recordedAt >= time)
  }

  /** Whether that is something recorded before the step, which must not overtake it. */
  hasUndeliveredBefore({ recordNumber }: Step): boolean {
    const first = this.#over[this.#first]
    return first !== undefined && first.recordNumber < recordNumber
  }

  /** The steps that were over in an earlier run and that this one has not reached. */
  get unreached(): readonly Step[] {
    return this.notMet.filter(isSettled)
  }

  /** All recorded steps that this run has not reached, over or not. */
  get notMet(): readonly Step[] {
    return [...this.#notMet]
  }

  #refuseOther(kind: StepKind, name: string, place: number, recorded: Step | null): void {
    const expected = this.#byPlace.get(place)
    if (expected === undefined ? recorded === null : expected === recorded) return
    throw nondeterminism(
      `the code reached the ${kind} ${show(name)} ${expected === undefined ? 'earlier or later than it is recorded' : `where ${show(expected.name)} is recorded`}`,
      { expected: expected?.name ?? null, met: name },
    )
  }
}

export function nondeterminism(what: string, details: Readonly<Record<string, unknown>>): EngineError {
  return new EngineError('nondeterminism', `${what}; the task is strict, so give changed code a new version`, details)
}

function isSettled({ state }: Step): boolean {
  return state === 'succeeded' || state === 'timed_out'
}

function keyOf({ name, index }: { readonly name: string; readonly index: number }): string {
  return `${index} ${name}`
}
