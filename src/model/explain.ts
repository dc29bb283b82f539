// Why an execution is not running, or how it ended: one sentence, since when, until when, and what can change it. A
// pure function. The sentence is for people, the facts next to it for programs.
import { conditionText } from './condition-text.ts'
import type { ExplainedExecution, ExplainFacts } from './explain-facts.ts'
import { overdueText, workersText } from './explain-help.ts'
import type { ExecutionId } from './id.ts'
import type { BlockingReason, EligibilityState, PublicState } from './state.ts'
import type { TimeoutBehaviour } from './suspension.ts'

export interface Explanation {
  readonly executionId: ExecutionId
  readonly publicState: PublicState
  readonly reason: BlockingReason
  readonly sentence: string
  /** In milliseconds since 1970. */
  readonly since: number | null
  /** When time alone changes it. */
  readonly until: number | null
  /** Who or what can change it, and how. */
  readonly ways: readonly string[]
  /** The facts behind the sentence. */
  readonly facts: ExplainFacts
}

interface Explained {
  readonly sentence: string
  readonly since: number | null
  readonly until?: number | null
  readonly ways?: readonly string[]
}

export function explain(facts: ExplainFacts): Explanation {
  const { execution, setAside } = facts
  const { executionId, publicState, blockingReason: reason } = execution
  const parts = sentenceParts(facts)
  const isOpen = execution.state.lifecyclePhase !== 'terminal'
  const aside =
    setAside === null
      ? ''
      : ` The duty ${setAside.duty} failed to process it (${times(setAside.failureCount)}: ${setAside.error}) and retries at ${instant(setAside.retryAt)}.`
  return {
    executionId,
    publicState,
    reason,
    sentence: `${parts.sentence}${isOpen ? cancelText(facts) : ''}${isOpen ? aside : ''}`,
    since: parts.since,
    until: parts.until ?? null,
    ways: [...(parts.ways ?? []), ...(isOpen ? ['an authorized caller, with executions.cancel'] : [])],
    facts,
  }
}

function sentenceParts(facts: ExplainFacts): Explained {
  const { execution } = facts
  switch (execution.publicState) {
    case 'active':
      return running(facts)
    case 'suspended':
      return suspended(facts)
    case 'delayed':
      return delayed(facts)
    case 'resumable':
    case 'waiting':
      return execution.state.eligibilityState === 'eligible_now' ? ready(facts) : blocked(facts)
    case 'waiting_children':
    case 'rate_limited':
      return blocked(facts)
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'expired':
    case 'skipped':
      return ended(facts)
  }
}

function ready(facts: ExplainFacts): Explained {
  const { execution, workers, aheadCount, grant } = facts
  const since = execution.lastMutationAt
  const { text, way } = workersText(execution, workers, aheadCount)
  const reserved =
    grant === null ? '' : ` It is reserved for ${grant.workerInstanceId} until ${instant(grant.expiresAt)}.`
  return { sentence: `${whatHappened(facts)} since ${instant(since)}: ${text}.${reserved}`, since, ways: [way] }
}

/** The part before "since". */
function whatHappened(facts: ExplainFacts): string {
  const { execution } = facts
  const { attemptState, interruption } = execution.state
  if (attemptState === 'pending_retry_attempt')
    return `Failed; attempt ${attemptText(execution)} has been waiting for a worker`
  if (attemptState === 'pending_replay_attempt') return 'Was replayed and has been waiting for a worker'
  switch (interruption) {
    case 'none':
      return 'Has been waiting for a worker'
    case 'lapsed':
      return `Lost its worker${diedText(facts, execution.consecutiveExpiryCount)} and has been waiting for another`
    case 'revoked':
      return 'Its lease was revoked; it has been waiting for a worker'
    case 'released':
      return 'Was released by its worker and has been waiting for another'
    case 'cancelled':
      return 'Has been waiting for a worker to run its compensations'
    case 'delayed':
      return 'Its delay has ended; it has been waiting for a worker'
    case 'signalled':
      return 'Was resumed and has been waiting for a worker'
    case 'timed_out':
      return 'Its wait timed out; it has been waiting for a worker'
    case 'children':
      return 'Its children have ended; it has been waiting for a worker'
  }
}

/** ` (2 times in a row; last: w-2, w-1)`: how often and where started runs died. */
function diedText({ expiredWorkers }: ExplainFacts, count: number): string {
  // Earlier expiries belong to runs that made progress, or to an earlier generation.
  const last = expiredWorkers.slice(0, Math.max(1, count))
  const parts = [
    ...(count > 1 ? [`${count} times in a row`] : []),
    ...(last.length > 0 ? [`last: ${last.join(', ')}`] : []),
  ]
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

function attemptText({ retryCount, policy }: ExplainedExecution): string {
  const most = policy?.retry?.attempts
  return most === undefined ? `${retryCount + 1}` : `${retryCount + 1} of ${most}`
}

function delayed(facts: ExplainFacts): Explained {
  const { execution, now } = facts
  const until = execution.delayUntil!
  const overdue = until <= now ? ` ${overdueText(facts)}` : ''
  const ways = [`time, at ${instant(until)}`]
  return { sentence: `${delayText(facts)}.${overdue}`, since: execution.lastMutationAt, until, ways }
}

function delayText(facts: ExplainFacts): string {
  const { execution, lastFailure } = facts
  const until = instant(execution.delayUntil!)
  const { attemptState, interruption } = execution.state
  if (attemptState === 'pending_retry_attempt') {
    const why = lastFailure === null ? '' : ` (${lastFailure})`
    return `Failed${why}; attempt ${attemptText(execution)} starts at ${until}`
  }
  if (interruption === 'lapsed') {
    const { consecutiveExpiryCount: count } = execution
    return `Its worker died or was blocked${diedText(facts, count)}; it will be retried at ${until}`
  }
  if (attemptState === 'attempt_interrupted') {
    return interruption === 'delayed'
      ? `Was delayed by its worker until ${until}`
      : `Was resumed and continues at ${until}`
  }
  return `Is delayed until ${until}`
}

function running(facts: ExplainFacts): Explained {
  const { execution, now } = facts
  const lease = execution.lease!
  const { workerInstanceId, acquiredAt, expiresAt } = lease
  const ways = [`worker ${workerInstanceId}, which runs it`, 'an operator, with leases.revoke']
  if (expiresAt <= now) {
    const sentence = `Worker ${workerInstanceId} stopped renewing its lease, which expired at ${instant(expiresAt)}. ${overdueText(facts)}`
    return { sentence, since: expiresAt, until: expiresAt, ways: ways.slice(1) }
  }
  const sentence = `Has been running since ${instant(acquiredAt)} on worker ${workerInstanceId}; its lease is valid until ${instant(expiresAt)}.${progressText(execution)}`
  return { sentence, since: acquiredAt, ways }
}

function progressText({ progress }: ExplainedExecution): string {
  if (progress === null) return ''
  const { percent, message } = progress
  const parts = [...(percent === null ? [] : [`${percent} %`]), ...(message === null ? [] : [message])]
  return ` Progress: ${parts.join(', ')}.`
}

function cancelText({ execution, cancelDeadlineAt }: ExplainFacts): string {
  const { cancelRequestedAt, cancelledBy, cancellationReason } = execution
  if (cancelRequestedAt === null) return ''
  const by = cancelledBy === null ? '' : ` by ${cancelledBy}`
  const why = cancellationReason === null ? '' : ` (${cancellationReason})`
  const end = cancelDeadlineAt === null ? '' : `; it ends at ${instant(cancelDeadlineAt)} at the latest`
  if (execution.compensation === 'running') {
    return ` It was asked to stop at ${instant(cancelRequestedAt)}${by}${why}; its compensations have not finished${end}.`
  }
  return ` It was asked to stop at ${instant(cancelRequestedAt)}${by}${why}${end}.`
}

const timeoutText: Readonly<Record<TimeoutBehaviour, string>> = {
  fail: 'it fails',
  cancel: 'it is cancelled',
  expire: 'it expires',
  escalate: 'it is escalated to an operator',
  auto_resume_with_timeout_signal: 'it resumes with a timeout signal',
}

function suspended(facts: ExplainFacts): Explained {
  const { execution, condition, now } = facts
  const { suspendedAt, timeoutAt, timeoutBehaviour, escalatedAt } = execution.suspension!
  const waitsFor = condition === null ? 'an unknown condition' : conditionText(condition)
  const escalated = escalatedAt === null ? '' : ` It was escalated to an operator at ${instant(escalatedAt)}.`
  const isOver = timeoutAt !== null && timeoutAt <= now
  const timeout =
    timeoutAt === null ? '' : ` The wait times out at ${instant(timeoutAt)}; then ${timeoutText[timeoutBehaviour]}.`
  return {
    sentence: `Has been suspended since ${instant(suspendedAt)}, waiting for ${waitsFor}.${escalated}${timeout}${isOver ? ` ${overdueText(facts)}` : ''}`,
    since: suspendedAt,
    until: timeoutAt,
    ways: [
      ...(condition === null ? [] : [`its condition: ${waitsFor}`]),
      ...(timeoutAt === null ? [] : [`time, at ${instant(timeoutAt)}`]),
      'an operator, with executions.resume',
    ],
  }
}

const blockText: Partial<Record<EligibilityState, string>> = {
  blocked_by_budget: 'Has been blocked by a spent budget',
  blocked_by_quota: 'Has been blocked by a quota',
  blocked_by_operator: 'Has been held by an operator',
}

function blocked({ execution, parkedAt }: ExplainFacts): Explained {
  const { state, flowId } = execution
  const since = parkedAt ?? execution.lastMutationAt
  const tail = `since ${instant(since)}.`
  if (state.eligibilityState === 'blocked_by_dependencies') {
    const where = flowId === null ? '' : ` in flow ${flowId}`
    return {
      sentence: `Has been waiting for its dependencies${where} ${tail}`,
      since,
      ways: ['its dependencies, when they end'],
    }
  }
  return {
    sentence: `${blockText[state.eligibilityState] ?? 'Has been blocked'} ${tail}`,
    since,
    ways: ['an operator'],
  }
}

function ended(facts: ExplainFacts): Explained {
  const { execution } = facts
  const since = execution.endedAt
  const at = since === null ? '' : ` at ${instant(since)}`
  return { sentence: `${endingText(facts, at)}.`, since, ways: ['an operator, with executions.replay'] }
}

function endingText(facts: ExplainFacts, at: string): string {
  const { execution } = facts
  const { publicState, failureReason, cancelledBy, cancellationReason } = execution
  const why = failureReason === null ? '' : `: ${failureReason}`
  switch (publicState) {
    case 'completed':
      return `Completed${at}`
    case 'cancelled': {
      const by = cancelledBy === null ? '' : ` by ${cancelledBy}`
      return `Was cancelled${at}${by}${cancellationReason === null ? '' : `: ${cancellationReason}`}`
    }
    case 'expired':
      return `Expired${at}${why}`
    case 'skipped':
      return `Was skipped${at}, because its dependencies cannot succeed${why}`
    default:
      if (failureReason === 'reclaim_limit') return `Failed${at}${why}: ${lastDeathText(facts)}`
      return `Failed${at}${why}`
  }
}

/** The count is that of the reclaims; the expiry that ended it is one more. */
function lastDeathText(facts: ExplainFacts): string {
  return `its worker died or was blocked without progress${diedText(facts, facts.execution.consecutiveExpiryCount + 1)}`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}

function instant(time: number): string {
  return new Date(time).toISOString()
}
