// The history of a run that is replayed to be verified. It is strict, whatever the task is, and collects how the code differs.
import type { Step } from '../engine/step/step.ts'
import { EngineError } from '../model/errors.ts'
import type { StepKind } from '../model/step.ts'
import { show } from '../model/text.ts'
import { History, type StepCall } from './history.ts'

/** How the code compares to one recorded run. */
export interface ReplayFinding {
  /**
   * - `same`: the code takes the recorded path, to its end or to where the run is now.
   * - `new`: it does, and reaches a new step where `allowNew` permits one.
   * - `differs`: a recorded step was replaced, renamed, removed or moved, or the code throws where the run did not.
   */
  readonly kind: 'same' | 'new' | 'differs'
  /** The recorded step at the point where the code differs; null: none. */
  readonly recorded: string | null
  /** The step that the code reaches there instead; null: none. */
  readonly met: string | null
  /** A worker would fail this run for good: the task is strict, a name has changed its kind, or a schema refuses a value. */
  readonly isRefused: boolean
  readonly sentence: string
}

interface Rules {
  /** The task is. */
  readonly isStrict: boolean
  /** A new step may come before a recorded one. */
  readonly allowsInserted: boolean
  /** Ends the replay. */
  readonly stop: (finding: ReplayFinding) => void
}

interface Added {
  readonly kind: StepKind
  readonly name: string
  /** What the code reached before it; null: nothing. */
  readonly after: string | null
}

export class ReplayHistory extends History {
  readonly #steps: readonly Step[]
  readonly #rules: Rules
  /** Reached without a record, in this order. */
  readonly #added: Added[] = []
  #last: string | null = null

  constructor(steps: readonly Step[], attemptIndex: number, rules: Rules) {
    super(steps, attemptIndex, true)
    this.#steps = steps
    this.#rules = rules
  }

  override reach(kind: StepKind, name: string): StepCall {
    try {
      const call = super.reach(kind, name)
      // Not yet a difference: the recorded run may have reached it too, as the loser of a race or when it was exported.
      if (call.recorded === null) this.#added.push({ kind, name, after: this.#last })
      this.#last = name
      return call
    } catch (error) {
      if (EngineError.is(error)) this.#rules.stop(this.#refused(kind, name, error))
      throw error
    }
  }

  /** The code has returned. */
  atEnd(): ReplayFinding {
    const [missing] = this.unreached
    if (missing === undefined) return same
    const sentence = `ends without the recorded ${missing.kind} ${show(missing.name)}`
    return { kind: 'differs', recorded: missing.name, met: null, isRefused: this.#rules.isStrict, sentence }
  }

  /** The code waits for something that has no record. */
  atIdle(hasCompleted: boolean): ReplayFinding {
    const [missing] = this.unreached
    // A wait without a timeout is recorded when it is over, so the run may be in it.
    const added = this.#added.find(({ kind }) => kind !== 'wait') ?? (hasCompleted ? this.#added[0] : undefined)
    if (missing !== undefined) {
      const { isStrict, allowsInserted } = this.#rules
      const before = `before the recorded ${missing.kind} ${show(missing.name)}`
      const sentence = added === undefined ? `waits ${before}` : `${reaches(added)} ${before}`
      const kind = added !== undefined && allowsInserted ? 'new' : 'differs'
      return { kind, recorded: missing.name, met: added?.name ?? null, isRefused: isStrict, sentence }
    }
    if (added !== undefined) return this.#newAtEnd(reaches(added), added.name)
    return hasCompleted ? this.#newAtEnd('waits where the recorded run completed', null) : same
  }

  #newAtEnd(sentence: string, met: string | null): ReplayFinding {
    return { kind: 'new', recorded: null, met, isRefused: false, sentence }
  }

  #refused(kind: StepKind, name: string, error: EngineError): ReplayFinding {
    const { isStrict, allowsInserted } = this.#rules
    const expected = error.details['expected']
    const recorded = typeof expected === 'string' ? expected : null
    if (EngineError.is(error, 'step_kind_conflict')) {
      return { kind: 'differs', recorded: name, met: name, isRefused: true, sentence: error.message }
    }
    const where = recorded === null ? 'earlier or later than it is recorded' : `where ${show(recorded)} is recorded`
    const isKnown = this.#steps.some((step) => step.name === name)
    if (isKnown) {
      const sentence = `reaches the ${kind} ${show(name)} ${where}`
      return { kind: 'differs', recorded: recorded ?? name, met: name, isRefused: isStrict, sentence }
    }
    const sentence = `${reaches({ kind, name, after: this.#last })} ${where}`
    return { kind: allowsInserted ? 'new' : 'differs', recorded, met: name, isRefused: isStrict, sentence }
  }
}

export const same: ReplayFinding = {
  kind: 'same',
  recorded: null,
  met: null,
  isRefused: false,
  sentence: 'takes the recorded path',
}

function reaches({ kind, name, after }: Added): string {
  return `reaches the new ${kind} ${show(name)}${after === null ? '' : ` after ${show(after)}`}`
}
