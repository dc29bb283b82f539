// Decides about a suspension whose deadline has passed, or whose condition time alone may have satisfied. A satisfied
// condition has precedence: it resumes the execution, also after the deadline.
import { evaluate, evaluateAtDeadline, type ConditionInput, type Evaluation } from './condition-evaluate.ts'
import { nodesOf, type Condition } from './condition.ts'
import type { PendingOutcome } from './state.ts'
import { limitAsks, type Stoppable } from './stop.ts'
import { closeReasonOfTimeout, outcomeOfTimeout, type CloseReason, type TimeoutBehaviour } from './suspension.ts'

export interface DueSuspension {
  readonly condition: Condition
  readonly input: ConditionInput
  readonly wakeAt: number | null
  readonly timeoutAt: number | null
  /** For the deadline that is set: after an escalation, the second one. */
  readonly timeoutBehaviour: TimeoutBehaviour | null
}

export type DueDecision =
  /** Neither its deadline nor its point in time has passed. */
  | { readonly kind: 'none' }
  | { readonly kind: 'satisfied'; readonly evaluation: Evaluation }
  /** It waits on, and `evaluation` says until when. */
  | { readonly kind: 'waits'; readonly evaluation: Evaluation }
  /** It resumes with a signal of the timeout. */
  | { readonly kind: 'resumes'; readonly evaluation: Evaluation }
  /** It waits on, until the second deadline if there is one. `wakeAt`: when its condition is evaluated again. */
  | { readonly kind: 'escalates'; readonly wakeAt: number | null }
  | {
      readonly kind: 'ends'
      readonly outcome: PendingOutcome
      readonly reason: string
      readonly closeReason: CloseReason
    }
  /** Its code cleans up first; `outcome` is how it ends after that. */
  | { readonly kind: 'asked'; readonly outcome: PendingOutcome; readonly reason: string }

export function decideDue(suspension: DueSuspension, execution: Stoppable): DueDecision {
  const { condition, input, wakeAt, timeoutAt, timeoutBehaviour } = suspension
  const isOver = timeoutAt !== null && timeoutAt < input.now
  if (!isOver && (wakeAt === null || wakeAt > input.now)) return { kind: 'none' }
  const evaluation = evaluate(condition, input)
  if (evaluation.satisfied) return { kind: 'satisfied', evaluation }
  if (!isOver || timeoutBehaviour === null) return { kind: 'waits', evaluation }
  switch (timeoutBehaviour) {
    case 'auto_resume_with_timeout_signal':
      return { kind: 'resumes', evaluation: evaluateAtDeadline(condition, input) }
    case 'escalate':
      // A leaf that waits for the deadline is satisfied by it.
      return { kind: 'escalates', wakeAt: waitsForDeadline(condition) ? input.now : evaluation.dueAt }
    default: {
      const outcome = outcomeOfTimeout[timeoutBehaviour]
      const reason = `suspension_timeout_${timeoutBehaviour}`
      if (limitAsks(execution)) return { kind: 'asked', outcome, reason }
      return { kind: 'ends', outcome, reason, closeReason: closeReasonOfTimeout[timeoutBehaviour] }
    }
  }
}

function waitsForDeadline(condition: Condition): boolean {
  return nodesOf(condition).some(([, node]) => node.kind === 'timeout')
}
