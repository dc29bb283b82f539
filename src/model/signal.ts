import type { ErrorCode } from './errors.ts'
import { limits } from './limits.ts'
import { checkText } from './text.ts'

/** What became of a signal. The words are wire strings and column values; they never change. */
export const signalEffects = [
  // The condition of the suspension holds now, by this signal.
  'resume_condition_satisfied',
  // Counts towards the condition, which needs more.
  'appended_to_waitpoint',
  // Would have counted, but what it stands for (the leaf, the source, the waitpoint) has counted already.
  'appended_to_waitpoint_duplicate',
  'signal_ignored_not_in_condition',
  'signal_ignored_matcher_failed',
  // Came before the suspension that its waitpoint is for; it is judged with it.
  'buffered_for_pending_waitpoint',
  // Sent by name; waits for a condition that names it and is then taken, once.
  'kept_for_condition',
  // Came too late: recorded, and changed nothing.
  'no_op',
] as const
export type SignalEffect = (typeof signalEffects)[number]

export interface SignalSource {
  readonly type: string
  readonly identity: string
}

export function checkSignalName(field: string, value: unknown, code: ErrorCode = 'invalid_input'): string {
  return checkText(field, value, { minBytes: 1, maxBytes: limits.signalNameBytes, refuseControls: true, code })
}

/** The identity may be empty: an operator's often is. */
export function checkSourceText(field: string, value: unknown, code: ErrorCode = 'invalid_input'): string {
  return checkText(field, value, { maxBytes: limits.signalSourceBytes, refuseControls: true, code })
}

export function checkWaitpointKey(field: string, value: unknown, code: ErrorCode = 'invalid_input'): string {
  return checkText(field, value, { minBytes: 1, maxBytes: limits.waitpointKeyBytes, refuseControls: true, code })
}
