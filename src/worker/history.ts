// The recorded steps of an execution, as a run of its code reaches them: by name, and those of one name in the order of their first
// use.
import type { Step } from '../engine/step/step.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { checkStepName, isForgotten, type StepKind } from '../model/step.ts'
import { show } from '../model/text.ts'

/** A call of the code that leaves a record (a step, wait, sleep, child or value), and the record that an earlier run left. */
export interface StepCall {
  readonly kind: StepKind
  readonly name: string
  readonly index: number
  /** The number of calls before it. */
  readonly place: number
  readonly recorded: Step | null
  /** For a recorded child: its creation, which has its own place in the order of the records. */
  readonly made: Step | null
  /** The earlier attempt whose failure was recorded here. This attempt ignores that failure. */
  readonly failedIn: number | null
}

/** The prefix of the names of all steps of a hook. */
export const hookPrefix = 'hook: '

const none: ReadonlyMap<string, Step> = new Map()
const noneOf: Set<Step> = new Set()
const noSteps: readonly Step[] = []

export class History {
  readonly isStrict: boolean
  /** Separates the steps of a hook from those of the handler. Empty for the handler. */
  readonly #prefix: string
  readonly #steps: ReadonlyMap<string, Step> = none
  readonly #forgotten: ReadonlyMap<string, Step> = none
  /** How often the code has reached each name. */
  #counts: Map<string, number> | null = null
  #place = 0
  readonly #unreached: Set<Step> = noneOf
  /** The code has reached a call, or received a result, that no earlier run had. */
  #hasProgress = false
  /** The newest record is a sleep or wait that has not ended: an earlier run has executed all code before its end. */
  readonly #endsInWait: boolean = false
  /** The code has reached a wait without a record. */
  #hasReachedWait = false
  /** The steps that ended in an earlier run, in the order of their records. A child is in it twice: its creation and its end. */
  readonly #ended: readonly Step[] = noSteps
  readonly #creations: ReadonlyMap<Step, Step> = none as ReadonlyMap<never, Step>
  /** The index in that list of the first step that this run has not delivered to the code yet. */
  #first = 0
  /** Later ones that were delivered before it, because the code reaches it late or never. */
  #deliveredEarly: Set<Step> | null = null
  readonly #byPlace: ReadonlyMap<number, Step> = none as ReadonlyMap<never, Step>

  /** `steps` are in the order of their records. */
  constructor(steps: readonly Step[], attemptIndex: number, isStrict: boolean, prefix = '') {
    this.isStrict = isStrict
    this.#prefix = prefix
    // Most runs are first runs, which have no records.
    if (steps.length === 0) return
    const known = steps.filter((step) => !isForgotten(step, attemptIndex))
    this.#steps = new Map(known.map((step) => [keyOf(step), step]))
    const failed = steps.filter((step) => step.state === 'failed' && isForgotten(step, attemptIndex))
    if (failed.length > 0) this.#forgotten = new Map(failed.map((step) => [keyOf(step), step]))
    this.#unreached = new Set(known)
    const newest = known.at(-1)
    this.#endsInWait = newest?.state === 'pending' && (newest.kind === 'sleep' || newest.kind === 'wait')
    const children = known.filter(({ madeRecordNumber }) => madeRecordNumber !== null)
    this.#ended = known.filter(({ state }) => state !== 'pending')
    if (children.length > 0) {
      this.#creations = new Map(children.map((step) => [step, { ...step, recordNumber: step.madeRecordNumber! }]))
      this.#ended = [...this.#ended, ...this.#creations.values()].toSorted(
        (one, other) => one.recordNumber - other.recordNumber,
      )
    }
    this.#byPlace = new Map(isStrict ? known.map((step) => [step.place, step]) : [])
  }

  reach(kind: StepKind, given: string): StepCall {
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
    if (recorded !== null) this.#unreached.delete(recorded)
    // A wait without a timeout is recorded when it ends, so an earlier run may have reached it too.
    if (recorded === null && kind === 'wait') this.#hasReachedWait = true
    else if (recorded === null || (recorded.state === 'pending' && kind === 'step')) this.#hasProgress = true
    const failedIn = this.#forgotten.get(key)?.attemptIndex ?? null
    const made = recorded === null ? null : (this.#creations.get(recorded) ?? null)
    return { kind, name, index, place, recorded, made, failedIn }
  }

  /** The code receives the result of a step. Null: the step has no record from an earlier run. */
  delivered(step: Step | null): void {
    if (step === null || step.state === 'pending') this.#hasProgress = true
    if (step === null) return
    if (step !== this.#ended[this.#first]) {
      this.#deliveredEarly ??= new Set()
      this.#deliveredEarly.add(step)
      return
    }
    do this.#first += 1
    while (this.#deliveredEarly?.has(this.#ended[this.#first]!) === true)
  }

  /** Whether results of an earlier run are still to be delivered. */
  get isReplaying(): boolean {
    return this.#first < this.#ended.length
  }

  /**
   * Whether an earlier run has executed the code that runs now: a record lies ahead of it, or the wait that the run continues after.
   * `isAfterWait`: the run continues after a wait whose end is not recorded yet.
   */
  isRepeating(isAfterWait: boolean): boolean {
    const isWaited = isAfterWait || this.#endsInWait
    if (this.#hasProgress || (this.#hasReachedWait && !isWaited)) return false
    return isWaited || this.isReplaying || this.#unreached.size > 0
  }

  /** Whether a step was recorded at that time or later. */
  isRecordedSince(time: number): boolean {
    return [...this.#steps.values()].some(({ recordedAt }) => recordedAt >= time)
  }

  /** Whether a result that was recorded before the step is still to be delivered: the step must not overtake it. */
  hasUndeliveredBefore({ recordNumber }: Step): boolean {
    const first = this.#ended[this.#first]
    return first !== undefined && first.recordNumber < recordNumber
  }

  /** The steps that succeeded or timed out in an earlier run and that this run has not reached. */
  get unreachedSettled(): readonly Step[] {
    return this.unreached.filter(isSettled)
  }

  /** All recorded steps that this run has not reached. */
  get unreached(): readonly Step[] {
    return [...this.#unreached]
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
