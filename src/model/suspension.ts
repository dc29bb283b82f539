// The words of suspensions and waitpoints. They are wire strings and column values; they never change.
import type { BlockingReason, TerminalOutcome } from './state.ts'

export const suspensionReasons = [
  'waiting_for_signal',
  'waiting_for_approval',
  'waiting_for_callback',
  'waiting_for_tool_result',
  'waiting_for_operator_review',
  'paused_by_policy',
  'paused_by_budget',
  'step_boundary',
  'manual_pause',
] as const
export type SuspensionReason = (typeof suspensionReasons)[number]

/** The blocking reason of a suspended execution. */
export const blockingReasonOfSuspension: Readonly<Record<SuspensionReason, BlockingReason>> = {
  waiting_for_signal: 'waiting_for_signal',
  waiting_for_approval: 'waiting_for_approval',
  waiting_for_callback: 'waiting_for_callback',
  waiting_for_tool_result: 'waiting_for_tool_result',
  waiting_for_operator_review: 'paused_by_operator',
  paused_by_policy: 'paused_by_policy',
  paused_by_budget: 'waiting_for_budget',
  step_boundary: 'waiting_for_signal',
  manual_pause: 'paused_by_operator',
}

export const timeoutBehaviours = ['fail', 'cancel', 'expire', 'escalate', 'auto_resume_with_timeout_signal'] as const
export type TimeoutBehaviour = (typeof timeoutBehaviours)[number]

/** The outcome of an execution whose suspension times out; the other two behaviours end nothing. */
export const outcomeOfTimeout = {
  fail: 'failed',
  cancel: 'cancelled',
  expire: 'expired',
} as const satisfies Partial<Record<TimeoutBehaviour, TerminalOutcome>>

/** Pending until a suspension uses it, active while that lasts. */
export const waitpointStates = ['pending', 'active', 'closed'] as const
export type WaitpointState = (typeof waitpointStates)[number]

/** Why a suspension and its waitpoints closed; the last two are for waitpoints alone. */
export const closeReasons = [
  'resumed',
  'cancelled',
  'expired',
  'timed_out_fail',
  'timed_out_cancel',
  'timed_out_expire',
  'timed_out_auto_resume',
  'never_committed',
  'proactive_close',
] as const
export type CloseReason = (typeof closeReasons)[number]

/** An escalation closes nothing. */
export const closeReasonOfTimeout: Readonly<Record<Exclude<TimeoutBehaviour, 'escalate'>, CloseReason>> = {
  fail: 'timed_out_fail',
  cancel: 'timed_out_cancel',
  expire: 'timed_out_expire',
  auto_resume_with_timeout_signal: 'timed_out_auto_resume',
}
