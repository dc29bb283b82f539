// The life of an execution, as data: every way in which its vector changes. What leaves the vector as it is (renewal,
// progress, a tag, a new priority, a signal that satisfies nothing) is not here.
//
//                +------------- delay, lapse, revoke, release, retry -------------+
//                v                                                                |
//   create -> runnable ------------------------- claim ----------------------> active -> complete, fail
//              ^    ^                                                             |
//              |    +---------- signal, timeout ---------- suspended <- suspend --+
//              +--- replay --- terminal <- cancel, deadline, skip: from anywhere
//
// A transition keeps the words that its `to` does not name. Rows with one name are cases of one operation; together they
// cover what the operation accepts, and `when` says what decides between them where the vector does not.
import type { EligibilityState, StateVector } from './state.ts'

type Pattern = { readonly [D in keyof StateVector]?: readonly StateVector[D][] }

export interface Transition {
  readonly name: string
  readonly when?: string
  readonly from: Pattern
  readonly to: Partial<StateVector>
}

/** How an execution comes into being; from then on only transitions change it. */
export interface Birth {
  readonly name: 'create'
  readonly when: string
  readonly to: StateVector
}

const newborn: StateVector = {
  lifecyclePhase: 'runnable',
  ownershipState: 'unowned',
  eligibilityState: 'eligible_now',
  attemptState: 'pending_first_attempt',
  terminalOutcome: 'none',
  interruption: 'none',
}

export const births: readonly Birth[] = [
  { name: 'create', when: 'nothing blocks it', to: newborn },
  { name: 'create', when: 'with a delay', to: { ...newborn, eligibilityState: 'not_eligible_until_time' } },
  {
    name: 'create',
    when: 'a member of a flow with open edges',
    to: { ...newborn, eligibilityState: 'blocked_by_dependencies' },
  },
]

const active: Pattern = { lifecyclePhase: ['active'] }
const suspended: Pattern = { lifecyclePhase: ['suspended'] }
const alive: Pattern = { lifecyclePhase: ['runnable', 'active', 'suspended'] }
const neverClaimed: Pattern = { ...alive, attemptState: ['pending_first_attempt'] }
const claimedBefore: Pattern = {
  ...alive,
  attemptState: ['running_attempt', 'attempt_interrupted', 'pending_retry_attempt', 'pending_replay_attempt'],
}

const queued: Partial<StateVector> = {
  lifecyclePhase: 'runnable',
  ownershipState: 'unowned',
  eligibilityState: 'eligible_now',
}
const later: Partial<StateVector> = { ...queued, eligibilityState: 'not_eligible_until_time' }
const interrupted: Partial<StateVector> = { ...queued, attemptState: 'attempt_interrupted' }
const interruptedUntil: Partial<StateVector> = { ...later, attemptState: 'attempt_interrupted' }
const retriedAtOnce: Partial<StateVector> = { ...queued, attemptState: 'pending_retry_attempt' }
const retried: Partial<StateVector> = { ...later, attemptState: 'pending_retry_attempt' }
const ended: Partial<StateVector> = {
  lifecyclePhase: 'terminal',
  ownershipState: 'unowned',
  eligibilityState: 'not_applicable',
  interruption: 'none',
}
const endedAttempt: Partial<StateVector> = { ...ended, attemptState: 'attempt_terminal' }

function runnable(...eligibilityState: EligibilityState[]): Pattern {
  return { lifecyclePhase: ['runnable'], eligibilityState }
}

export const transitions: readonly Transition[] = [
  {
    name: 'claim',
    from: runnable('eligible_now'),
    to: {
      lifecyclePhase: 'active',
      ownershipState: 'leased',
      eligibilityState: 'not_applicable',
      attemptState: 'running_attempt',
      interruption: 'none',
    },
  },
  { name: 'promote', from: runnable('not_eligible_until_time'), to: { eligibilityState: 'eligible_now' } },

  // The holder gives it back or loses it.
  { name: 'delay', from: active, to: { ...interruptedUntil, interruption: 'delayed' } },
  { name: 'release', from: active, to: { ...interrupted, interruption: 'released' } },
  { name: 'revoke', from: active, to: { ...interrupted, interruption: 'revoked' } },
  { name: 'lapse', when: 'reclaims are left', from: active, to: { ...interrupted, interruption: 'lapsed' } },
  {
    name: 'lapse',
    when: 'it is not the first in a row',
    from: active,
    to: { ...interruptedUntil, interruption: 'lapsed' },
  },
  { name: 'lapse', when: 'at the reclaim limit', from: active, to: { ...endedAttempt, terminalOutcome: 'failed' } },

  // The holder ends the attempt.
  { name: 'complete', from: active, to: { ...endedAttempt, terminalOutcome: 'success' } },
  { name: 'fail', when: 'a retry is left', from: active, to: retried },
  { name: 'fail', when: 'a retry is left and waits for nothing', from: active, to: retriedAtOnce },
  { name: 'fail', when: 'no retry is left', from: active, to: { ...endedAttempt, terminalOutcome: 'failed' } },
  { name: 'attempt-timeout', when: 'a retry is left', from: active, to: retried },
  { name: 'attempt-timeout', when: 'a retry is left and waits for nothing', from: active, to: retriedAtOnce },
  {
    name: 'attempt-timeout',
    when: 'no retry is left',
    from: active,
    to: { ...endedAttempt, terminalOutcome: 'expired' },
  },

  // Parked, and back. An escalation stays suspended; a condition that already holds does not suspend.
  {
    name: 'suspend',
    from: active,
    to: {
      lifecyclePhase: 'suspended',
      ownershipState: 'unowned',
      eligibilityState: 'not_applicable',
      attemptState: 'attempt_interrupted',
    },
  },
  { name: 'signal', from: suspended, to: { ...interrupted, interruption: 'signalled' } },
  {
    name: 'signal',
    when: 'with a resume delay',
    from: suspended,
    to: { ...interruptedUntil, interruption: 'signalled' },
  },
  { name: 'children-ended', from: suspended, to: { ...interrupted, interruption: 'children' } },
  {
    name: 'children-ended',
    when: 'with a resume delay',
    from: suspended,
    to: { ...interruptedUntil, interruption: 'children' },
  },
  { name: 'suspension-timeout', when: 'resume', from: suspended, to: { ...interrupted, interruption: 'timed_out' } },
  {
    name: 'suspension-timeout',
    when: 'resume, with a resume delay',
    from: suspended,
    to: { ...interruptedUntil, interruption: 'timed_out' },
  },
  { name: 'suspension-timeout', when: 'fail', from: suspended, to: { ...endedAttempt, terminalOutcome: 'failed' } },
  {
    name: 'suspension-timeout',
    when: 'cancel',
    from: suspended,
    to: { ...endedAttempt, terminalOutcome: 'cancelled' },
  },
  { name: 'suspension-timeout', when: 'expire', from: suspended, to: { ...endedAttempt, terminalOutcome: 'expired' } },

  // Edges of a flow hold back only what has not run in this generation.
  {
    name: 'depend',
    from: {
      ...runnable('eligible_now', 'not_eligible_until_time'),
      attemptState: ['pending_first_attempt', 'pending_replay_attempt'],
    },
    to: { eligibilityState: 'blocked_by_dependencies' },
  },
  { name: 'dependencies-met', from: runnable('blocked_by_dependencies'), to: { eligibilityState: 'eligible_now' } },
  {
    name: 'dependencies-met',
    when: 'its delay is not over',
    from: { ...runnable('blocked_by_dependencies'), attemptState: ['pending_first_attempt'] },
    to: { eligibilityState: 'not_eligible_until_time' },
  },
  {
    name: 'flow-ended',
    when: 'the nested flow succeeded',
    from: runnable('blocked_by_dependencies'),
    to: { ...ended, attemptState: 'none', terminalOutcome: 'success' },
  },
  {
    name: 'flow-ended',
    when: 'the nested flow failed',
    from: runnable('blocked_by_dependencies'),
    to: { ...ended, attemptState: 'none', terminalOutcome: 'failed' },
  },

  // Admission, routing and holds.
  { name: 'block', when: 'by a budget', from: runnable('eligible_now'), to: { eligibilityState: 'blocked_by_budget' } },
  { name: 'block', when: 'by a quota', from: runnable('eligible_now'), to: { eligibilityState: 'blocked_by_quota' } },
  {
    name: 'block',
    when: 'by an operator',
    from: runnable('eligible_now'),
    to: { eligibilityState: 'blocked_by_operator' },
  },
  {
    name: 'unblock',
    from: runnable('blocked_by_budget', 'blocked_by_quota', 'blocked_by_operator'),
    to: { eligibilityState: 'eligible_now' },
  },

  // Asked to stop while it waits: the code runs once more and cleans up. An execution that runs is asked where it is.
  { name: 'ask-to-stop', from: suspended, to: { ...interrupted, interruption: 'cancelled' } },
  {
    name: 'ask-to-stop',
    from: {
      ...runnable('not_eligible_until_time'),
      attemptState: ['attempt_interrupted', 'pending_retry_attempt'],
    },
    to: { eligibilityState: 'eligible_now' },
  },
  { name: 'suspend', when: 'it was asked to stop', from: active, to: { ...interrupted, interruption: 'cancelled' } },
  { name: 'restart', when: 'it was asked to stop', from: active, to: { ...interrupted, interruption: 'cancelled' } },
  {
    name: 'attempt-timeout',
    when: 'it has something to clean up',
    from: active,
    to: { ...interrupted, interruption: 'cancelled' },
  },

  // Endings from anywhere.
  { name: 'cancel', from: neverClaimed, to: { ...ended, terminalOutcome: 'cancelled' } },
  { name: 'cancel', from: claimedBefore, to: { ...endedAttempt, terminalOutcome: 'cancelled' } },
  { name: 'deadline', from: neverClaimed, to: { ...ended, terminalOutcome: 'expired' } },
  { name: 'deadline', from: claimedBefore, to: { ...endedAttempt, terminalOutcome: 'expired' } },
  { name: 'skip', from: neverClaimed, to: { ...ended, attemptState: 'none', terminalOutcome: 'skipped' } },
  { name: 'skip', from: claimedBefore, to: { ...endedAttempt, terminalOutcome: 'skipped' } },

  // And from the end back to the beginning, in a new generation.
  {
    name: 'replay',
    from: { lifecyclePhase: ['terminal'] },
    to: { ...queued, attemptState: 'pending_replay_attempt', terminalOutcome: 'none' },
  },
  {
    name: 'replay',
    when: 'a member of a flow that waits again',
    from: { lifecyclePhase: ['terminal'], attemptState: ['none', 'attempt_terminal'] },
    to: {
      ...queued,
      eligibilityState: 'blocked_by_dependencies',
      attemptState: 'pending_replay_attempt',
      terminalOutcome: 'none',
    },
  },
]

export function transitionsFrom(vector: StateVector): readonly Transition[] {
  return transitions.filter(({ from }) => matches(from, vector))
}

export function apply(transition: Transition, vector: StateVector): StateVector {
  if (matches(transition.from, vector)) return { ...vector, ...transition.to }
  throw new RangeError(`${transition.name} does not start from ${Object.values(vector).join(' / ')}`)
}

function matches(pattern: Pattern, vector: StateVector): boolean {
  return Object.entries(pattern).every(([dimension, words]) => {
    return (words as readonly string[]).includes(vector[dimension as keyof StateVector])
  })
}
