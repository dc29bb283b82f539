// Why an execution is not running, or how it ended: one sentence, since when, until when, and what leads on from there. Pure,
// and made for people: the words are for the screen, the facts beside them for programs.
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
  /** Who could change it, and how. */
  readonly ways: readonly string[]
  /** What the sentence is made of. */
  readonly facts: ExplainFacts
}

interface Told {
  readonly sentence: string
  readonly since: number | null
  readonly until?: number | null
  readonly ways?: readonly string[]
}

export function explain(facts: ExplainFacts): Explanation {
  const { execution, setAside } = facts
  const { executionId, publicState, blockingReason: reason } = execution
  const told = tell(facts)
  const isOpen = execution.state.lifecyclePhase !== 'terminal'
  const aside =
    setAside === null
      ? ''
      : ` ${setAside.duty} could not process it (${times(setAside.failureCount)}: ${setAside.error}) and tries again at ${instant(setAside.retryAt)}.`
  return {
    executionId,
    publicState,
    reason,
    sentence: `${told.sentence}${isOpen ? cancelText(facts) : ''}${isOpen ? aside : ''}`,
    since: told.since,
    until: told.until ?? null,
    ways: [...(told.ways ?? []), ...(isOpen ? ['anybody with the right, by executions.cancel'] : [])],
    facts,
  }
}

function tell(facts: ExplainFacts): Told {
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

function ready(facts: ExplainFacts): Told {
  const { execution, workers, aheadCount, grant } = facts
  const since = execution.lastMutationAt
  const { text, way } = workersText(execution, workers, aheadCount)
  const reserved =
    grant === null ? '' : ` It is reserved for ${grant.workerInstanceId} until ${instant(grant.expiresAt)}.`
  return { sentence: `${whatItWas(facts)} since ${instant(since)}: ${text}.${reserved}`, since, ways: [way] }
}

/** Up to "since". */
function whatItWas(facts: ExplainFacts): string {
  const { execution } = facts
  const { attemptState, interruption } = execution.state
  if (attemptState === 'pending_retry_attempt')
    return `Failed and waits for a worker for attempt ${attemptText(execution)}`
  if (attemptState === 'pending_replay_attempt') return 'Is to be run again and waits for a worker'
  switch (interruption) {
    case 'none':
      return 'Waits for a worker'
    case 'lapsed':
      return `Lost its worker${diedText(facts, execution.consecutiveExpiryCount)} and has been waiting for another`
    case 'revoked':
      return 'Was taken from its worker and waits for another'
    case 'released':
      return 'Was given back by its worker and waits for another'
    case 'delayed':
      return 'Is over its delay and waits for a worker to go on'
    case 'signalled':
      return 'Has what it waited for and waits for a worker to go on'
    case 'timed_out':
      return 'Has waited as long as it may and waits for a worker to go on'
    case 'children':
      return 'Its children have ended, and it waits for a worker to go on'
  }
}

/** ` (2 times in a row; last: w-2, w-1)`: how often and where runs died, as far as they had started. */
function diedText({ expiredWorkers }: ExplainFacts, count: number): string {
  // Earlier expiries are of runs that made progress, or of an earlier generation.
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

function delayed(facts: ExplainFacts): Told {
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
    return `Failed${why} and is tried again at ${until}, as attempt ${attemptText(execution)}`
  }
  if (interruption === 'lapsed') {
    const { consecutiveExpiryCount: count } = execution
    return `Its worker died or was blocked${diedText(facts, count)}; it is tried again at ${until}`
  }
  if (attemptState === 'attempt_interrupted') {
    return interruption === 'delayed'
      ? `Was put off by its worker until ${until}`
      : `Has what it waited for and goes on at ${until}`
  }
  return `Is not to start before ${until}`
}

function running(facts: ExplainFacts): Told {
  const { execution, now } = facts
  const lease = execution.lease!
  const { workerInstanceId, acquiredAt, expiresAt } = lease
  const ways = [`worker ${workerInstanceId}, which holds it`, 'an operator, by leases.revoke']
  if (expiresAt <= now) {
    const sentence = `Was held by worker ${workerInstanceId}, which fell silent: its lease ran out at ${instant(expiresAt)}. ${overdueText(facts)}`
    return { sentence, since: expiresAt, until: expiresAt, ways: ways.slice(1) }
  }
  const sentence = `Runs since ${instant(acquiredAt)} at worker ${workerInstanceId}, whose lease is good until ${instant(expiresAt)}.${progressText(execution)}`
  return { sentence, since: acquiredAt, ways }
}

function progressText({ progress }: ExplainedExecution): string {
  if (progress === null) return ''
  const { percent, message } = progress
  const parts = [...(percent === null ? [] : [`${percent} %`]), ...(message === null ? [] : [message])]
  return ` It says: ${parts.join(', ')}.`
}

function cancelText({ execution, cancelDeadlineAt }: ExplainFacts): string {
  const { cancelRequestedAt, cancelledBy, cancellationReason } = execution
  if (cancelRequestedAt === null) return ''
  const by = cancelledBy === null ? '' : ` by ${cancelledBy}`
  const why = cancellationReason === null ? '' : ` (${cancellationReason})`
  const end = cancelDeadlineAt === null ? '' : `, and ends at ${instant(cancelDeadlineAt)} at the latest`
  return ` It was asked to stop at ${instant(cancelRequestedAt)}${by}${why}${end}.`
}

const timeoutText: Readonly<Record<TimeoutBehaviour, string>> = {
  fail: 'it fails',
  cancel: 'it is cancelled',
  expire: 'it expires',
  escalate: 'it is escalated to people',
  auto_resume_with_timeout_signal: 'it goes on with a timeout signal',
}

function suspended(facts: ExplainFacts): Told {
  const { execution, condition, now } = facts
  const { suspendedAt, timeoutAt, timeoutBehaviour, escalatedAt } = execution.suspension!
  const waitsFor = condition === null ? 'something that is not known here' : conditionText(condition)
  const escalated =
    escalatedAt === null ? '' : ` Nobody answered in time: since ${instant(escalatedAt)} it waits for people.`
  const isOver = timeoutAt !== null && timeoutAt <= now
  const timeout = timeoutAt === null ? '' : ` At ${instant(timeoutAt)} ${timeoutText[timeoutBehaviour]}.`
  return {
    sentence: `Is suspended since ${instant(suspendedAt)} and waits for ${waitsFor}.${escalated}${timeout}${isOver ? ` ${overdueText(facts)}` : ''}`,
    since: suspendedAt,
    until: timeoutAt,
    ways: [
      ...(condition === null ? [] : [`what it waits for: ${waitsFor}`]),
      ...(timeoutAt === null ? [] : [`time, at ${instant(timeoutAt)}`]),
      'an operator, by executions.resume',
    ],
  }
}

const blockText: Partial<Record<EligibilityState, string>> = {
  blocked_by_budget: 'Is held back, because a budget is spent,',
  blocked_by_quota: 'Is held back by a quota',
  blocked_by_operator: 'Is held by an operator',
}

function blocked({ execution, parkedAt }: ExplainFacts): Told {
  const { state, flowId, lane, requiredCapabilities } = execution
  const since = parkedAt ?? execution.lastMutationAt
  const tail = `since ${instant(since)}.`
  switch (state.eligibilityState) {
    case 'blocked_by_dependencies': {
      const where = flowId === null ? '' : ` in flow ${flowId}`
      return {
        sentence: `Waits for what it depends on${where} ${tail}`,
        since,
        ways: ['the executions that it depends on'],
      }
    }
    case 'blocked_by_route': {
      const wanted = requiredCapabilities.join(', ') || 'what it needs'
      return { sentence: `Waits for a worker with ${wanted} ${tail}`, since, ways: [`a worker with ${wanted}`] }
    }
    case 'blocked_by_lane_state':
      return { sentence: `Waits, because its lane '${lane}' takes no work, ${tail}`, since, ways: ['an operator'] }
    default:
      return {
        sentence: `${blockText[state.eligibilityState] ?? 'Is held back'} ${tail}`,
        since,
        ways: ['an operator'],
      }
  }
}

function ended(facts: ExplainFacts): Told {
  const { execution } = facts
  const since = execution.endedAt
  const at = since === null ? '' : ` at ${instant(since)}`
  return { sentence: `${endingText(facts, at)}.`, since, ways: ['an operator, by executions.replay'] }
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
      return `Ran out of time${at}${why}`
    case 'skipped':
      return `Was skipped${at}, because what it depends on cannot succeed${why}`
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
