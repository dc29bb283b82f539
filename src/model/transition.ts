// The life of an execution as data: every way in which its state vector changes. A change that leaves the vector as it is
// (a renewal, progress, a tag, a new priority, a signal that satisfies nothing) is not here.
//
//                +------- delay, lease expiry, revoke, release, retry, restart ---+
//                v                                                                |
//   create -> runnable ------------------------- claim ----------------------> active -> complete, fail
//              ^    ^                                                             |
//              |    +---------- signal, timeout ---------- suspended <- suspend --+
//              +--- replay --- terminal <- cancel, deadline, skip: from anywhere
//
// A transition keeps the words that its `to` does not name. Rows with one name are cases of one operation, distinguished
// by `when`. Together they cover everything that the operation accepts.
//
// The table is the source of docs/internals/states.md (npm run states). Tests compare it with the other places that have
// the rules: it reaches exactly the legal vectors of state.ts, the engine makes exactly its changes (except the planned
// ones), and the race tests have a move for each operation.
import type { EligibilityState, StateVector } from './state.ts'

export type Pattern = { readonly [D in keyof StateVector]?: readonly StateVector[D][] }

export interface Transition {
  readonly name: string
  readonly when?: string
  readonly from: Pattern
  readonly to: Partial<StateVector>
  /** No operation does it yet. */
  readonly isPlanned?: true
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
/** An execution that ended before its first claim, and was replayed. */
const replayedUnclaimed: Pattern = { lifecyclePhase: ['runnable'], attemptState: ['pending_replay_attempt'] }

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
  { name: 'delay', when: 'its time has passed', from: active, to: { ...interrupted, interruption: 'delayed' } },
  { name: 'release', from: active, to: { ...interrupted, interruption: 'released' } },
  { name: 'revoke', from: active, to: { ...interrupted, interruption: 'revoked' } },
  { name: 'lease-expiry', when: 'reclaims are left', from: active, to: { ...interrupted, interruption: 'lapsed' } },
  {
    name: 'lease-expiry',
    when: 'it is not the first in a row',
    from: active,
    to: { ...interruptedUntil, interruption: 'lapsed' },
  },
  {
    name: 'lease-expiry',
    when: 'at the reclaim limit',
    from: active,
    to: { ...endedAttempt, terminalOutcome: 'failed' },
  },

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

  // The holder begins a new generation.
  { name: 'restart', from: active, to: { ...queued, attemptState: 'pending_replay_attempt' } },

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
  { name: 'suspension-wake', from: suspended, to: { ...interrupted, interruption: 'timed_out' } },
  {
    name: 'suspension-wake',
    when: 'with a resume delay',
    from: suspended,
    to: { ...interruptedUntil, interruption: 'timed_out' },
  },
  { name: 'suspension-timeout', when: 'resume', from: suspended, to: { ...interrupted, interruption: 'timed_out' } },
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
  {
    name: 'dependencies-satisfied',
    from: runnable('blocked_by_dependencies'),
    to: { eligibilityState: 'eligible_now' },
  },
  {
    name: 'dependencies-satisfied',
    when: 'its delay is not over',
    from: runnable('blocked_by_dependencies'),
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

  // Limits, budgets and holds.
  {
    name: 'block',
    when: 'by a budget',
    from: runnable('eligible_now'),
    to: { eligibilityState: 'blocked_by_budget' },
    isPlanned: true,
  },
  {
    name: 'block',
    when: 'by a quota',
    from: runnable('eligible_now'),
    to: { eligibilityState: 'blocked_by_quota' },
    isPlanned: true,
  },
  {
    name: 'block',
    when: 'by an operator',
    from: runnable('eligible_now'),
    to: { eligibilityState: 'blocked_by_operator' },
    isPlanned: true,
  },
  {
    name: 'unblock',
    from: runnable('blocked_by_budget', 'blocked_by_quota', 'blocked_by_operator'),
    to: { eligibilityState: 'eligible_now' },
    isPlanned: true,
  },

  // Asked to stop while it waits: the code runs once more and cleans up. An execution that runs is asked where it is.
  { name: 'ask-to-stop', when: 'it is suspended', from: suspended, to: { ...interrupted, interruption: 'cancelled' } },
  {
    name: 'ask-to-stop',
    when: 'it is delayed',
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
  {
    name: 'cancel',
    when: 'before its first claim',
    from: neverClaimed,
    to: { ...ended, terminalOutcome: 'cancelled' },
  },
  { name: 'cancel', from: claimedBefore, to: { ...endedAttempt, terminalOutcome: 'cancelled' } },
  {
    name: 'cancel',
    when: 'replayed, and never claimed',
    from: replayedUnclaimed,
    to: { ...ended, attemptState: 'pending_first_attempt', terminalOutcome: 'cancelled' },
  },
  {
    name: 'deadline',
    when: 'before its first claim',
    from: neverClaimed,
    to: { ...ended, terminalOutcome: 'expired' },
  },
  { name: 'deadline', from: claimedBefore, to: { ...endedAttempt, terminalOutcome: 'expired' } },
  {
    name: 'deadline',
    when: 'replayed, and never claimed',
    from: replayedUnclaimed,
    to: { ...ended, attemptState: 'pending_first_attempt', terminalOutcome: 'expired' },
  },
  {
    name: 'skip',
    when: 'before its first claim',
    from: neverClaimed,
    to: { ...ended, attemptState: 'none', terminalOutcome: 'skipped' },
  },
  { name: 'skip', from: claimedBefore, to: { ...endedAttempt, terminalOutcome: 'skipped' } },
  {
    name: 'skip',
    when: 'replayed, and never claimed',
    from: replayedUnclaimed,
    to: { ...ended, attemptState: 'none', terminalOutcome: 'skipped' },
  },

  // And from the end back to the beginning, in a new generation.
  {
    name: 'replay',
    from: { lifecyclePhase: ['terminal'] },
    to: { ...queued, attemptState: 'pending_replay_attempt', terminalOutcome: 'none' },
  },
  {
    name: 'replay',
    when: 'a member of a flow that waits again',
    from: { lifecyclePhase: ['terminal'] },
    to: {
      ...queued,
      eligibilityState: 'blocked_by_dependencies',
      attemptState: 'pending_replay_attempt',
      terminalOutcome: 'none',
    },
  },
]
