// Applies a decision on an open suspension: it wakes and takes the signals that satisfied its condition.
import type { Verdict } from '../../../model/condition-evaluate.ts'
import type { OpenSuspension } from './facts.ts'
import { answeredBy, interruptionBy, type Waking } from '../../transition/wake.ts'

export interface DecidedSuspension {
  readonly suspension: OpenSuspension
  readonly verdict: Verdict
}

/** For a satisfied condition. */
export function wakingBy(actor: string, { suspension, verdict }: DecidedSuspension): Waking {
  const { uuid, condition, facts, resumeDelayMs, signalNumbers } = suspension
  return {
    uuid,
    interruption: interruptionBy(verdict, condition),
    delayMs: resumeDelayMs,
    wokenAt: facts.now,
    actor,
    reason: null,
    closeReason: 'resumed',
    outcome: verdict,
    answered: answeredBy(verdict, facts.signals),
    signalNumbers: verdict.signals.map((id) => signalNumbers.get(id)!),
  }
}

export function takenBy({ suspension, verdict }: DecidedSuspension) {
  const { uuid, suspensionId, signalNumbers } = suspension
  return verdict.signals.map((id) => ({ uuid, suspensionId, signalNumber: signalNumbers.get(id)! }))
}

/** The latest time at which one of them was evaluated. */
export function judgedAt(judged: readonly DecidedSuspension[]): number {
  return judged.reduce((latest, { suspension }) => Math.max(latest, suspension.facts.now), 0)
}
