// The state of an execution, in six words. The words are wire strings and column values; they never change. The rules of
// `isLegal` are also a constraint of the table, and a test compares the two over every combination.
//
// That no worker serves an execution, or that its lane is paused, is not stored: it depends on other rows.

export const lifecyclePhases = ['runnable', 'active', 'suspended', 'terminal'] as const
export type LifecyclePhase = (typeof lifecyclePhases)[number]

export const ownershipStates = ['unowned', 'leased'] as const
export type OwnershipState = (typeof ownershipStates)[number]

export const eligibilityStates = [
  'eligible_now',
  'not_eligible_until_time',
  'blocked_by_dependencies',
  'blocked_by_budget',
  'blocked_by_quota',
  'blocked_by_operator',
  'not_applicable',
] as const
export type EligibilityState = (typeof eligibilityStates)[number]

export const attemptStates = [
  'none',
  'pending_first_attempt',
  'running_attempt',
  'attempt_interrupted',
  'pending_retry_attempt',
  'pending_replay_attempt',
  'attempt_terminal',
] as const
export type AttemptState = (typeof attemptStates)[number]

export const terminalOutcomes = ['none', 'success', 'failed', 'cancelled', 'expired', 'skipped'] as const
export type TerminalOutcome = (typeof terminalOutcomes)[number]

/** How a leased or parked execution returned to the queue; cleared by the next claim. */
export const interruptions = [
  'none',
  'lapsed',
  'revoked',
  'released',
  'delayed',
  'signalled',
  'timed_out',
  'children',
  'cancelled',
] as const
export type Interruption = (typeof interruptions)[number]

export const publicStates = [
  'waiting',
  'delayed',
  'rate_limited',
  'waiting_children',
  'active',
  'suspended',
  'resumable',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'skipped',
] as const
export type PublicState = (typeof publicStates)[number]

/** The public states that are endings. */
export function isEnded(state: PublicState): boolean {
  return endedStates.includes(state)
}

const endedStates: readonly PublicState[] = ['completed', 'failed', 'cancelled', 'expired', 'skipped']

export const blockingReasons = [
  'none',
  'waiting_for_worker',
  'waiting_for_retry_backoff',
  'waiting_for_resume_delay',
  'waiting_for_delay',
  'waiting_for_signal',
  'waiting_for_approval',
  'waiting_for_callback',
  'waiting_for_tool_result',
  'waiting_for_children',
  'waiting_for_budget',
  'waiting_for_quota',
  'paused_by_operator',
  'paused_by_policy',
] as const
export type BlockingReason = (typeof blockingReasons)[number]

/** The state of the compensations that the code registered. `unfinished`: it ended before all of them had run. */
export const compensationStates = ['none', 'registered', 'running', 'finished', 'unfinished'] as const
export type CompensationState = (typeof compensationStates)[number]

export const pendingOutcomes = ['cancelled', 'failed', 'expired'] as const
export type PendingOutcome = (typeof pendingOutcomes)[number]

export interface StateVector {
  readonly lifecyclePhase: LifecyclePhase
  readonly ownershipState: OwnershipState
  readonly eligibilityState: EligibilityState
  readonly attemptState: AttemptState
  readonly terminalOutcome: TerminalOutcome
  readonly interruption: Interruption
}

export function isLegal(vector: StateVector): boolean {
  switch (vector.lifecyclePhase) {
    case 'runnable':
      return isLegalRunnable(vector)
    case 'active':
      return (
        vector.ownershipState === 'leased' &&
        vector.eligibilityState === 'not_applicable' &&
        vector.attemptState === 'running_attempt' &&
        vector.terminalOutcome === 'none' &&
        vector.interruption === 'none'
      )
    case 'suspended':
      return (
        vector.ownershipState === 'unowned' &&
        vector.eligibilityState === 'not_applicable' &&
        vector.attemptState === 'attempt_interrupted' &&
        vector.terminalOutcome === 'none' &&
        vector.interruption === 'none'
      )
    case 'terminal':
      return (
        vector.ownershipState === 'unowned' &&
        vector.eligibilityState === 'not_applicable' &&
        vector.interruption === 'none' &&
        attemptsOfOutcome[vector.terminalOutcome].includes(vector.attemptState)
      )
  }
}

function isLegalRunnable(vector: StateVector): boolean {
  const { attemptState, eligibilityState } = vector
  if (vector.ownershipState !== 'unowned' || vector.terminalOutcome !== 'none') return false
  if (!waitingAttempts.includes(attemptState)) return false
  if (eligibilityState === 'not_applicable') return false
  // An execution that has run waits for children by a suspension; only a fresh generation waits for edges.
  if (eligibilityState === 'blocked_by_dependencies' && !freshAttempts.includes(attemptState)) return false
  if (eligibilityState === 'not_eligible_until_time' && undelayed.includes(vector.interruption)) return false
  return (vector.interruption !== 'none') === (attemptState === 'attempt_interrupted')
}

/** These make an execution eligible at once: a revoke, a release and a request to stop have no delay. */
const undelayed: readonly Interruption[] = ['revoked', 'released', 'cancelled']

const freshAttempts: readonly AttemptState[] = ['pending_first_attempt', 'pending_replay_attempt']
const waitingAttempts: readonly AttemptState[] = [...freshAttempts, 'pending_retry_attempt', 'attempt_interrupted']

// An execution that was cancelled or expired before its first claim keeps `pending_first_attempt`. One that was skipped
// then, or that represents a flow and ends with it, has `none`.
const attemptsOfOutcome: Readonly<Record<TerminalOutcome, readonly AttemptState[]>> = {
  none: [],
  success: ['attempt_terminal', 'none'],
  failed: ['attempt_terminal', 'none'],
  cancelled: ['attempt_terminal', 'pending_first_attempt'],
  expired: ['attempt_terminal', 'pending_first_attempt'],
  skipped: ['attempt_terminal', 'none'],
}

/** Total: a vector that is not legal has a public state too. */
export function publicState(vector: StateVector): PublicState {
  switch (vector.lifecyclePhase) {
    case 'terminal':
      return publicStateOfOutcome[vector.terminalOutcome]
    case 'active':
      return 'active'
    case 'suspended':
      return 'suspended'
    case 'runnable':
      if (vector.eligibilityState === 'eligible_now' && isResumed(vector.interruption)) return 'resumable'
      return publicStateOfEligibility[vector.eligibilityState]
  }
}

/** The outcome of an ended execution; `none` of any other. */
export function outcomeOfPublicState(state: PublicState): TerminalOutcome {
  if (state === 'completed') return 'success'
  return isEnded(state) ? (state as TerminalOutcome) : 'none'
}

const publicStateOfOutcome: Readonly<Record<TerminalOutcome, PublicState>> = {
  none: 'failed',
  success: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  skipped: 'skipped',
}

const publicStateOfEligibility: Readonly<Record<EligibilityState, PublicState>> = {
  eligible_now: 'waiting',
  not_eligible_until_time: 'delayed',
  blocked_by_dependencies: 'waiting_children',
  blocked_by_budget: 'rate_limited',
  blocked_by_quota: 'rate_limited',
  blocked_by_operator: 'waiting',
  not_applicable: 'waiting',
}

/** Why it is not running. A suspension may have a more exact reason than `waiting_for_signal`. */
export function blockingReason(vector: StateVector): BlockingReason {
  switch (vector.lifecyclePhase) {
    case 'active':
    case 'terminal':
      return 'none'
    case 'suspended':
      return 'waiting_for_signal'
    case 'runnable':
      if (vector.eligibilityState === 'not_eligible_until_time') return delayReason(vector)
      return reasonOfEligibility[vector.eligibilityState]
  }
}

function delayReason({ attemptState, interruption }: StateVector): BlockingReason {
  if (attemptState === 'pending_retry_attempt') return 'waiting_for_retry_backoff'
  return isResumed(interruption) ? 'waiting_for_resume_delay' : 'waiting_for_delay'
}

const reasonOfEligibility: Readonly<Record<Exclude<EligibilityState, 'not_eligible_until_time'>, BlockingReason>> = {
  eligible_now: 'waiting_for_worker',
  blocked_by_dependencies: 'waiting_for_children',
  blocked_by_budget: 'waiting_for_budget',
  blocked_by_quota: 'waiting_for_quota',
  blocked_by_operator: 'paused_by_operator',
  not_applicable: 'none',
}

export const claimReasons = ['first', 'retry', 'replay', 'reclaim', 'resume', 'cancel'] as const
export type ClaimReason = (typeof claimReasons)[number]

/**
 * The kind of the next claim of a runnable execution. `reclaim` and `resume` continue the interrupted attempt.
 * `cancel`: it was asked to stop, and its code runs once more to clean up.
 */
export function claimReason(
  { attemptState, interruption }: Pick<StateVector, 'attemptState' | 'interruption'>,
  isAskedToStop = false,
): ClaimReason {
  if (isAskedToStop) return 'cancel'
  switch (attemptState) {
    case 'pending_first_attempt':
      return 'first'
    case 'pending_retry_attempt':
      return 'retry'
    case 'pending_replay_attempt':
      return 'replay'
    case 'attempt_interrupted':
      return interruption === 'lapsed' || interruption === 'revoked' ? 'reclaim' : 'resume'
    default:
      throw new RangeError(`an execution whose attempt is ${attemptState} cannot be claimed`)
  }
}

function isResumed(interruption: Interruption): boolean {
  return interruption === 'signalled' || interruption === 'timed_out' || interruption === 'children'
}
