import { expect, test } from 'vitest'
import { signalEffects } from '../../src/model/signal.ts'
import { blockingReasons } from '../../src/model/state.ts'
import {
  blockingReasonOfSuspension,
  closeReasonOfTimeout,
  closeReasons,
  outcomeOfTimeout,
  suspensionReasons,
  timeoutBehaviours,
  waitpointStates,
} from '../../src/model/suspension.ts'

test('SUSP-03 the nine reasons of a suspension have fixed wire words', () => {
  expect(suspensionReasons).toEqual([
    'waiting_for_signal',
    'waiting_for_approval',
    'waiting_for_callback',
    'waiting_for_tool_result',
    'waiting_for_operator_review',
    'paused_by_policy',
    'paused_by_budget',
    'step_boundary',
    'manual_pause',
  ])
})

test.each(suspensionReasons)('a suspension for %s has its own blocking reason', (reason) => {
  expect(blockingReasons).toContain(blockingReasonOfSuspension[reason])
})

test('a timeout has five behaviours: three end the execution, and only one leaves the suspension open', () => {
  expect(timeoutBehaviours).toEqual(['fail', 'cancel', 'expire', 'escalate', 'auto_resume_with_timeout_signal'])
  expect(timeoutBehaviours.filter((behaviour) => behaviour in outcomeOfTimeout)).toEqual(['fail', 'cancel', 'expire'])
  expect(timeoutBehaviours.filter((behaviour) => !(behaviour in closeReasonOfTimeout))).toEqual(['escalate'])
})

test('waitpoints, their closing and the effects of signals have fixed wire words', () => {
  expect(waitpointStates).toEqual(['pending', 'active', 'closed'])
  expect(closeReasons).toEqual([
    'resumed',
    'cancelled',
    'expired',
    'timed_out_fail',
    'timed_out_cancel',
    'timed_out_expire',
    'timed_out_auto_resume',
    'never_committed',
    'proactive_close',
  ])
  expect(signalEffects).toEqual([
    'resume_condition_satisfied',
    'appended_to_waitpoint',
    'appended_to_waitpoint_duplicate',
    'signal_ignored_not_in_condition',
    'signal_ignored_matcher_failed',
    'buffered_for_pending_waitpoint',
    'kept_for_condition',
    'no_op',
  ])
})
