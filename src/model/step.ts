// The words of steps, which record what durable code has done so that a later run can continue there. They are wire strings and
// column values; they never change.
import type { ErrorCode } from './errors.ts'
import { limits } from './limits.ts'
import { checkText } from './text.ts'

export const stepKinds = ['step', 'sleep', 'wait', 'child', 'value', 'compensation', 'hook'] as const
export type StepKind = (typeof stepKinds)[number]

/** Pending: it has begun and is not over. A step has failed tries; a sleep or a wait has a due time. */
export const recordedStates = ['pending', 'succeeded', 'failed', 'timed_out'] as const

/**
 * The states that readers see. Abandoned: still pending when the execution ended, such as the losers of a race, a sleep
 * that a cancel cut short, or a child that the code did not wait for. It is derived on reads, and never recorded.
 */
export const stepStates = [...recordedStates, 'abandoned'] as const
export type StepState = (typeof stepStates)[number]

export function checkStepName(field: string, value: unknown, code: ErrorCode = 'invalid_input'): string {
  return checkText(field, value, { minBytes: 1, maxBytes: limits.stepNameBytes, refuseControls: true, code })
}

/**
 * A success outlives attempts. Tries and their last failure belong to one attempt: a new attempt tries again, while
 * code that caught the failure takes the same path as long as its attempt lasts.
 */
export function isForgotten(
  step: { readonly kind: StepKind; readonly state: StepState; readonly attemptIndex: number },
  attemptIndex: number,
): boolean {
  if (step.attemptIndex === attemptIndex) return false
  return step.state === 'failed' || (step.kind === 'step' && step.state === 'pending')
}
