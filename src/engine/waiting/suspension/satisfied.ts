// Applies a decision on an open suspension: it wakes and takes the signals that satisfied its condition.
import type { Evaluation } from '../../../model/condition-evaluate.ts'
import type { OpenSuspension } from './open-suspensions.ts'
import { answeredBy, interruptionBy, type Waking } from '../../transition/wake.ts'

export interface DecidedSuspension {
  readonly suspension: OpenSuspension
  readonly evaluation: Evaluation
}

/** For a satisfied condition. */
export function wakingBy(actor: string, { suspension, evaluation }: DecidedSuspension): Waking {
  const { uuid, condition, input, resumeDelayMs, signalNumbers } = suspension
  return {
    uuid,
    interruption: interruptionBy(evaluation, condition),
    delayMs: resumeDelayMs,
    wokenAt: input.now,
    actor,
    reason: null,
    closeReason: 'resumed',
    outcome: evaluation,
    answered: answeredBy(evaluation, input.signals),
    signalNumbers: evaluation.signals.map((id) => signalNumbers.get(id)!),
  }
}

export function takenBy({ suspension, evaluation }: DecidedSuspension) {
  const { uuid, suspensionId, signalNumbers } = suspension
  return evaluation.signals.map((id) => ({ uuid, suspensionId, signalNumber: signalNumbers.get(id)! }))
}

/** The latest time at which one of them was evaluated. */
export function evaluatedAt(evaluated: readonly DecidedSuspension[]): number {
  return evaluated.reduce((latest, { suspension }) => Math.max(latest, suspension.input.now), 0)
}
