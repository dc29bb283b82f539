// An execution as a reader sees it. `describe` and every list select the same columns from the same joins, so that one
// decoder serves them all.
import { describeActor } from '../../model/actor.ts'
import { endsWhenLeftSql, isAskedByCancelSql, isAskedByLimitSql } from '../transition/ask-to-stop.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import {
  type CompensationState,
  type PendingOutcome,
  blockingReason,
  type AttemptState,
  type BlockingReason,
  type EligibilityState,
  type Interruption,
  type LifecyclePhase,
  type OwnershipState,
  type PublicState,
  type StateVector,
  type TerminalOutcome,
} from '../../model/state.ts'
import { sortedTags } from '../../model/tag.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'
import {
  blockingDetailOf,
  blockingReasonOf,
  decodeSuspension,
  suspensionColumns,
  suspensionRow,
  type Suspension,
} from '../waiting/suspension/suspension.ts'

export interface Execution {
  readonly executionId: ExecutionId
  readonly namespace: string
  readonly lane: string
  readonly kind: string
  readonly version: string | null
  readonly publicState: PublicState
  readonly state: StateVector
  /** Why it is not running, as a word and as a sentence; none while it is running or when it has ended. */
  readonly blockingReason: BlockingReason
  readonly blockingDetail: string | null
  readonly priority: number
  readonly creator: string
  readonly requiredCapabilities: readonly string[]
  readonly tags: Readonly<Record<string, string>>
  readonly policy: ExecutionPolicy | null
  readonly idempotencyKey: string | null
  readonly flowId: FlowId | null
  readonly parentId: ExecutionId | null
  readonly generation: number
  /** Times are milliseconds since 1970, by the database's clock. */
  readonly createdAt: number
  readonly lastMutationAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly delayUntil: number | null
  readonly deadlineAt: number | null
  readonly cancelRequestedAt: number | null
  /** The ending of an execution that was asked to stop; null while it was not. */
  readonly pendingOutcome: PendingOutcome | null
  readonly compensation: CompensationState
  /** The running or interrupted attempt. */
  readonly currentAttempt: { readonly attemptIndex: number } | null
  readonly lease: Lease | null
  /** For a suspended execution. */
  readonly suspension: Suspension | null
  /** The last progress that a holder reported. */
  readonly progress: Progress | null
  readonly totalAttemptCount: number
  readonly retryCount: number
  readonly replayCount: number
  /** Leases of this generation that expired. */
  readonly leaseReclaimCount: number
  /** Expired leases of started runs in a row without progress, as of the last one. */
  readonly consecutiveExpiryCount: number
  readonly failureReason: string | null
  readonly cancellationReason: string | null
  readonly cancelledBy: string | null
}

export interface Progress {
  readonly percent: number | null
  readonly message: string | null
  readonly updatedAt: number
}

export interface Lease {
  readonly leaseId: string
  readonly leaseEpoch: number
  readonly attemptIndex: number
  readonly workerId: string
  readonly workerInstanceId: string
  readonly acquiredAt: number
  readonly expiresAt: number
  readonly renewedAt: number | null
}

export const executionRow = {
  execution_id: 'uuid',
  partition_key: 'int2',
  namespace: 'text',
  lane_id: 'text',
  execution_kind: 'text',
  task_version: 'text?',
  public_state: oneOf<PublicState>(),
  lifecycle_phase: oneOf<LifecyclePhase>(),
  ownership_state: oneOf<OwnershipState>(),
  eligibility_state: oneOf<EligibilityState>(),
  attempt_state: oneOf<AttemptState>(),
  terminal_outcome: oneOf<TerminalOutcome>(),
  interruption: oneOf<Interruption>(),
  priority: 'int2',
  rank: 'int8',
  creator_identity: 'text',
  required_capabilities: 'text[]',
  tags: 'jsonb',
  policy: 'jsonb?',
  idempotency_key: 'text?',
  flow_id: 'uuid?',
  parent_id: 'uuid?',
  generation: 'int4',
  created_at_ms: 'int8',
  last_mutation_at_ms: 'int8',
  started_at_ms: 'int8?',
  terminal_at_ms: 'int8?',
  delay_until_ms: 'int8?',
  parked_at_ms: 'int8?',
  deadline_at_ms: 'int8?',
  cancel_requested_at_ms: 'int8?',
  pending_outcome: oneOf<PendingOutcome | null>(),
  compensation: oneOf<CompensationState>(),
  attempt_index: 'int4',
  total_attempt_count: 'int4',
  retry_count: 'int4',
  replay_count: 'int4',
  lease_reclaim_count: 'int4',
  consecutive_expiry_count: 'int4',
  failure_reason: 'text?',
  cancellation_reason: 'text?',
  cancelled_by: 'text?',
  lease_id: 'uuid?',
  lease_epoch: 'int8?',
  worker_id: 'text?',
  worker_instance_id: 'text?',
  acquired_at_ms: 'int8?',
  expires_at_ms: 'int8?',
  renewed_at_ms: 'int8?',
  progress_percent: 'int2?',
  progress_message: 'text?',
  progress_at_ms: 'int8?',
  ...suspensionRow,
} as const

export type ExecutionRow = RowOf<typeof executionRow>

/** Follows `select`; the joins of `executionJoins` provide the names. */
export const executionColumns = `
  e.execution_id, e.partition_key, e.namespace, q.lane_id, q.execution_kind, e.task_version, e.public_state,
  e.lifecycle_phase, e.ownership_state, e.eligibility_state, e.attempt_state, e.terminal_outcome, e.interruption,
  e.priority, e.rank, n.creator_identity, q.required_capabilities, coalesce(t.tags, '{}') as tags, n.policy,
  n.idempotency_key, e.flow_id, e.parent_id, e.generation, e.created_at_ms, e.last_mutation_at_ms, e.started_at_ms,
  e.terminal_at_ms, e.delay_until_ms, e.parked_at_ms, e.deadline_at_ms, e.cancel_requested_at_ms, e.attempt_index,
  e.total_attempt_count, e.retry_count, e.replay_count, e.lease_reclaim_count, e.consecutive_expiry_count, e.failure_reason, e.cancellation_reason,
  e.cancelled_by, l.lease_id, l.lease_epoch, l.worker_id, l.worker_instance_id, l.acquired_at_ms, l.expires_at_ms,
  l.renewed_at_ms, p.percent as progress_percent, p.message as progress_message, p.updated_at_ms as progress_at_ms,
  ${suspensionColumns},
  case when e.lifecycle_phase <> 'terminal' and e.cancel_requested_at_ms is not null
    then coalesce(e.stop_outcome, 'cancelled'::flowfabric.ff_terminal_outcome) end as pending_outcome,
  case when not ${isAskedByLimitSql('e')} or e.terminal_outcome = 'success' then 'none'
    -- The hook is not for a cancel.
    when e.terminal_outcome = 'cancelled' and not ${isAskedByCancelSql('e')} then 'none'
    when e.lifecycle_phase <> 'terminal' and (e.cancel_requested_at_ms is null or ${endsWhenLeftSql('e')}) then 'registered'
    when e.lifecycle_phase <> 'terminal' then 'running'
    when exists (
      select
      from flowfabric.ff_step c
      where c.execution_id = any (array[e.execution_id]) and c.generation = e.generation and c.kind in ('compensation', 'hook')
        and c.state <> 'succeeded') then 'unfinished'
    else 'finished' end as compensation`

/** Follows `from ff_exec_core e`, or any other table with the hot row as `e`. */
export const executionJoins = `
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
join flowfabric.ff_queue q on q.queue_id = e.queue_id
left join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
left join flowfabric.ff_progress p on p.execution_id = any (array[e.execution_id])
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[case when e.lifecycle_phase = 'suspended' then e.execution_id end])
left join lateral (
  select jsonb_object_agg(g.tag_key, g.tag_value) as tags
  from flowfabric.ff_exec_tag g
  where g.execution_id = any (array[e.execution_id])
) t on true`

export function decodeExecution(row: ExecutionRow): Execution {
  const state: StateVector = {
    lifecyclePhase: row.lifecycle_phase,
    ownershipState: row.ownership_state,
    eligibilityState: row.eligibility_state,
    attemptState: row.attempt_state,
    terminalOutcome: row.terminal_outcome,
    interruption: row.interruption,
  }
  const suspension = decodeSuspension(row)
  const reason = suspension === null ? blockingReason(state) : blockingReasonOf(suspension)
  const hasAttempt = row.attempt_state === 'running_attempt' || row.attempt_state === 'attempt_interrupted'
  return {
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    namespace: row.namespace,
    lane: row.lane_id,
    kind: row.execution_kind,
    version: row.task_version,
    publicState: row.public_state,
    state,
    blockingReason: reason,
    blockingDetail: suspension === null ? blockingDetail(reason, row) : blockingDetailOf(suspension),
    priority: row.priority,
    creator: row.creator_identity,
    requiredCapabilities: row.required_capabilities,
    tags: sortedTags(row.tags as Record<string, string>),
    policy: row.policy as ExecutionPolicy | null,
    idempotencyKey: row.idempotency_key,
    flowId: row.flow_id === null ? null : formatFlowId(row.partition_key, row.flow_id),
    parentId: row.parent_id === null ? null : formatExecutionId(row.partition_key, row.parent_id),
    generation: row.generation,
    createdAt: row.created_at_ms,
    lastMutationAt: row.last_mutation_at_ms,
    startedAt: row.started_at_ms,
    endedAt: row.terminal_at_ms,
    delayUntil: row.delay_until_ms,
    deadlineAt: row.deadline_at_ms,
    cancelRequestedAt: row.cancel_requested_at_ms,
    pendingOutcome: row.pending_outcome,
    compensation: row.compensation,
    currentAttempt: hasAttempt ? { attemptIndex: row.attempt_index } : null,
    lease: decodeLease(row),
    suspension,
    progress: decodeProgress(row),
    totalAttemptCount: row.total_attempt_count,
    retryCount: row.retry_count,
    replayCount: row.replay_count,
    leaseReclaimCount: row.lease_reclaim_count,
    consecutiveExpiryCount: row.consecutive_expiry_count,
    failureReason: row.failure_reason,
    cancellationReason: row.cancellation_reason,
    cancelledBy: row.cancelled_by === null ? null : describeActor(row.cancelled_by),
  }
}

function decodeLease(row: ExecutionRow): Lease | null {
  if (row.lease_id === null) return null
  return {
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch!,
    attemptIndex: row.attempt_index,
    workerId: row.worker_id!,
    workerInstanceId: row.worker_instance_id!,
    acquiredAt: row.acquired_at_ms!,
    expiresAt: row.expires_at_ms!,
    renewedAt: row.renewed_at_ms,
  }
}

function decodeProgress(row: ExecutionRow): Progress | null {
  if (row.progress_at_ms === null) return null
  return { percent: row.progress_percent, message: row.progress_message, updatedAt: row.progress_at_ms }
}

function blockingDetail(reason: BlockingReason, row: ExecutionRow): string | null {
  switch (reason) {
    case 'none':
      return null
    case 'waiting_for_worker':
      return row.required_capabilities.length === 0
        ? `waiting for a worker on lane '${row.lane_id}'`
        : `waiting for a worker on lane '${row.lane_id}' with ${row.required_capabilities.join(', ')}`
    case 'waiting_for_delay':
      return `delayed until ${instant(row.delay_until_ms)}`
    case 'waiting_for_retry_backoff':
      return `retry ${row.retry_count} starts at ${instant(row.delay_until_ms)}`
    case 'waiting_for_resume_delay':
      return `resumed, continues at ${instant(row.delay_until_ms)}`
    default:
      return `${reason.replaceAll('_', ' ')} since ${instant(row.parked_at_ms)}`
  }
}

function instant(ms: number | null): string {
  return ms === null ? 'an unknown time' : new Date(ms).toISOString()
}
