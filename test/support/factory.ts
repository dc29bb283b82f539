// Executions in any legal state, written by SQL as the engine would have left them: `await given.active({ lane: 'a' })`.
// The factory writes everything that the invariants require: queue and lane, ready row, lease, attempts, completion
// event.
import { randomUUID } from 'node:crypto'
import type { Condition } from '../../src/model/condition.ts'
import { mintExecutionId } from '../../src/model/id.ts'
import type { ExecutionId, FlowId } from '../../src/model/id.ts'
import type { EligibilityState, Interruption, PublicState, TerminalOutcome } from '../../src/model/state.ts'
import type { TimeoutBehaviour } from '../../src/model/suspension.ts'
import type { Sql } from '../../src/sql/sql.ts'
import type { Row } from './raw.ts'
import { writer, type Moment, type Parts, type Traits } from './write-execution.ts'

interface Held {
  readonly workerInstance?: string
  readonly leaseId?: string
  readonly leaseEpoch?: number
  readonly attemptIndex?: number
  readonly expiresAt?: number
  readonly renewedAt?: number
}

interface Parked {
  readonly since?: number
}

interface Suspended extends Parked {
  readonly condition?: Condition
  readonly waitpoints?: readonly string[]
  readonly timeoutAt?: number
  readonly timeoutBehaviour?: TimeoutBehaviour
  /** The deadline that follows an escalation. */
  readonly secondTimeoutMs?: number
  readonly secondBehaviour?: TimeoutBehaviour
  readonly wakeAt?: number
  readonly resumeDelayMs?: number
}

interface Ended {
  readonly endedAt?: number
  readonly reason?: string
  /** Never claimed: possible only for cancelled, expired and skipped executions. */
  readonly neverRan?: boolean
}

export interface Factory {
  waiting(traits?: Traits): Promise<ExecutionId>
  delayed(traits?: Traits & { readonly until?: number }): Promise<ExecutionId>
  /** Failed once, and waits for its second attempt. */
  retrying(traits?: Traits & { readonly until?: number }): Promise<ExecutionId>
  /** Its lease has expired; the next claim takes it over. */
  interrupted(traits?: Traits): Promise<ExecutionId>
  resumable(traits?: Traits): Promise<ExecutionId>
  active(traits?: Traits & Held): Promise<ExecutionId>
  /** Waits for a signal through its one waitpoint, `answer`, unless the traits name others. */
  suspended(traits?: Traits & Suspended): Promise<ExecutionId>
  /** A member of a flow with an open edge. */
  blocked(traits?: Traits & Parked): Promise<ExecutionId>
  rateLimited(traits?: Traits & Parked): Promise<ExecutionId>
  heldByOperator(traits?: Traits & Parked): Promise<ExecutionId>
  completed(
    traits?: Traits & Ended & { readonly result?: Uint8Array; readonly encoding?: string },
  ): Promise<ExecutionId>
  failed(traits?: Traits & Ended): Promise<ExecutionId>
  cancelled(traits?: Traits & Ended & { readonly by?: string }): Promise<ExecutionId>
  expired(traits?: Traits & Ended): Promise<ExecutionId>
  skipped(traits?: Traits & Ended): Promise<ExecutionId>
}

export function factory(sql: Sql): Factory {
  const make = writer(sql)
  return {
    waiting: (traits = {}) =>
      make(traits, () => ({ core: states('runnable', 'eligible_now', 'pending_first_attempt'), isReady: true })),
    delayed: (traits = {}) =>
      make(traits, (at) => ({
        core: {
          ...states('runnable', 'not_eligible_until_time', 'pending_first_attempt'),
          delay_until_ms: traits.until ?? at.now + 60_000,
        },
      })),
    retrying: (traits = {}) =>
      make(traits, (at) => ({
        core: {
          ...states('runnable', 'not_eligible_until_time', 'pending_retry_attempt'),
          ...ranOnce(at),
          retry_count: 1,
          delay_until_ms: traits.until ?? at.now + 60_000,
        },
        attempt: { outcome: 'retry', ended_at_ms: at.now, failure_reason: 'broke' },
      })),
    interrupted: (traits = {}) => make(traits, interruptedBy('lapsed', 'lease_expired_reclaimable')),
    resumable: (traits = {}) => make(traits, interruptedBy('signalled', 'suspended')),
    active: (traits = {}) => make(traits, (at) => activeParts(at, traits)),
    suspended: (traits = {}) => make(traits, (at) => suspendedParts(at, traits)),
    blocked: (traits = {}) => make(withFlow(traits), parkedBy('blocked_by_dependencies', 'waiting_children', traits)),
    rateLimited: (traits = {}) => make(traits, parkedBy('blocked_by_quota', 'rate_limited', traits)),
    heldByOperator: (traits = {}) => make(traits, parkedBy('blocked_by_operator', 'waiting', traits)),
    completed: (traits = {}) =>
      make(traits, (at) => {
        const { result, encoding = 'json' } = traits
        const stored = result && { result: hex(result), result_encoding: encoding }
        return { ...endedParts(at, 'success', traits), ...(stored && { result: stored }) }
      }),
    failed: (traits = {}) => make(traits, (at) => endedParts(at, 'failed', traits)),
    cancelled: (traits = {}) => make(traits, (at) => endedParts(at, 'cancelled', traits, traits.by)),
    expired: (traits = {}) => make(traits, (at) => endedParts(at, 'expired', traits)),
    skipped: (traits = {}) => make(traits, (at) => endedParts(at, 'skipped', traits)),
  }
}

function states(phase: string, eligibility: EligibilityState, attempt: string): Row {
  return { lifecycle_phase: phase, ownership_state: 'unowned', eligibility_state: eligibility, attempt_state: attempt }
}

function ranOnce({ now, leaseId }: Moment): Row {
  return { total_attempt_count: 1, lease_id: leaseId, lease_epoch: 1, started_at_ms: now }
}

function interruptedBy(interruption: Interruption, outcome: string) {
  return (at: Moment): Parts => ({
    core: { ...states('runnable', 'eligible_now', 'attempt_interrupted'), ...ranOnce(at), interruption },
    isReady: true,
    attempt: { outcome },
  })
}

function suspendedParts(at: Moment, traits: Suspended): Parts {
  const { since = at.now, waitpoints = ['answer'], condition = { kind: 'signal', waitpoint: 'answer' } } = traits
  return {
    core: {
      ...states('suspended', 'not_applicable', 'attempt_interrupted'),
      ...ranOnce(at),
      parked_at_ms: since,
      parked_state: 'suspended',
    },
    attempt: { outcome: 'suspended' },
    suspension: {
      suspension_id: randomUUID(),
      suspended_at_ms: since,
      timeout_at_ms: traits.timeoutAt ?? null,
      wake_at_ms: traits.wakeAt ?? null,
      second_timeout_ms: traits.secondTimeoutMs ?? null,
      resume_delay_ms: traits.resumeDelayMs ?? null,
      lease_epoch: 1,
      lease_id: at.leaseId,
      reason_code: 'waiting_for_signal',
      timeout_behavior: traits.timeoutBehaviour ?? 'fail',
      second_behavior: traits.secondBehaviour ?? null,
      requested_by: 'worker',
      condition,
    },
    waitpointKeys: waitpoints,
  }
}

function parkedBy(eligibility: EligibilityState, state: PublicState, { since }: Parked) {
  return (at: Moment): Parts => ({
    core: {
      ...states('runnable', eligibility, 'pending_first_attempt'),
      parked_at_ms: since ?? at.now,
      parked_state: state,
    },
  })
}

function withFlow(traits: Traits): Traits {
  return traits.flowId === undefined ? { ...traits, flowId: mintExecutionId() as string as FlowId } : traits
}

function activeParts(at: Moment, traits: Held): Parts {
  const { attemptIndex = 0, leaseEpoch = 1, workerInstance = 'worker-1', leaseId = at.leaseId } = traits
  return {
    core: {
      ...states('active', 'not_applicable', 'running_attempt'),
      ...ranOnce(at),
      ownership_state: 'leased',
      lease_id: leaseId,
      lease_epoch: leaseEpoch,
      attempt_index: attemptIndex,
      total_attempt_count: attemptIndex + 1,
    },
    lease: {
      acquired_at_ms: at.now,
      expires_at_ms: traits.expiresAt ?? at.now + 30_000,
      renewed_at_ms: traits.renewedAt ?? null,
      attempt_started_at_ms: at.now,
      attempt_type: 'initial',
      worker_id: 'worker',
      worker_instance_id: workerInstance,
    },
  }
}

function endedParts(at: Moment, outcome: TerminalOutcome, traits: Ended, by = 'factory'): Parts {
  const { endedAt = at.now, reason = null, neverRan = false } = traits
  const untouched = outcome === 'skipped' ? 'none' : 'pending_first_attempt'
  const isCancelled = outcome === 'cancelled'
  return {
    core: {
      ...states('terminal', 'not_applicable', neverRan ? untouched : 'attempt_terminal'),
      ...(neverRan ? {} : ranOnce(at)),
      terminal_outcome: outcome,
      terminal_at_ms: endedAt,
      failure_reason: isCancelled ? null : reason,
      cancellation_reason: isCancelled ? reason : null,
      cancelled_by: isCancelled ? by : null,
    },
    ...(neverRan ? {} : { attempt: { outcome, ended_at_ms: endedAt, failure_reason: reason } }),
    event: { occurred_at_ms: endedAt, event_type: 'ended', outcome, actor: by, reason },
  }
}

function hex(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`
}
