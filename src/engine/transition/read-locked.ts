// The second statement of a transaction that decides in this process: it reads executions after an earlier statement has locked
// them. A statement sees only rows that were committed before it began, so the statement that waits for a lock cannot also read.
//
// It reads every execution that is named, locked or not. The decision passes over those that the lock did not return.
import type { LockedExecution } from '../../model/locked-execution.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import type {
  AttemptState,
  EligibilityState,
  Interruption,
  LifecyclePhase,
  PendingOutcome,
  PublicState,
} from '../../model/state.ts'
import { call } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { hasRecordedSql } from './expiry-count.ts'

/** The columns of `lockedColumns`. */
export const lockedRow = {
  execution_id: 'uuid',
  partition_key: 'int2',
  namespace: 'text',
  lifecycle_phase: oneOf<LifecyclePhase>(),
  eligibility_state: oneOf<EligibilityState>(),
  attempt_state: oneOf<AttemptState>(),
  interruption: oneOf<Interruption>(),
  public_state: oneOf<PublicState>(),
  attached: 'int4',
  queue_id: 'int4',
  generation: 'int4',
  attempt_index: 'int4',
  retry_count: 'int4',
  consecutive_expiry_count: 'int4',
  lease_id: 'uuid?',
  lease_epoch: 'int8',
  expires_at_ms: 'int8?',
  is_started: 'bool?',
  worker_instance_id: 'text?',
  started_at_ms: 'int8?',
  delay_until_ms: 'int8?',
  deadline_at_ms: 'int8?',
  attempt_deadline_at_ms: 'int8?',
  cancel_requested_at_ms: 'int8?',
  cancel_deadline_at_ms: 'int8?',
  cancellation_reason: 'text?',
  cancelled_by: 'text?',
  stop_outcome: oneOf<PendingOutcome | null>(),
  now_ms: 'int8',
} as const

/** Of `ff_exec_core e`, its `ff_lease l`, and `k` with the time. */
export const lockedColumns = `e.execution_id, e.partition_key, e.namespace, e.lifecycle_phase, e.eligibility_state, e.attempt_state,
  e.interruption, e.public_state, e.attached, e.queue_id, e.generation, e.attempt_index, e.retry_count, e.consecutive_expiry_count,
  e.lease_id, e.lease_epoch, l.expires_at_ms, l.is_started, l.worker_instance_id, e.started_at_ms, e.delay_until_ms,
  e.deadline_at_ms, e.attempt_deadline_at_ms, e.cancel_requested_at_ms, e.cancel_deadline_at_ms, e.cancellation_reason,
  e.cancelled_by, e.stop_outcome, k.now_ms`

const readLocked = statement({
  name: 'execution.read-locked',
  params: { execution_ids: 'uuid[]' },
  row: lockedRow,
  text: `
select ${lockedColumns}
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
left join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k`,
})

/** Reads executions that an earlier statement of the transaction has locked. */
export function readLockedCall(uuids: readonly string[]) {
  return call(readLocked, { execution_ids: uuids })
}

/** By uuid, the executions that the lock statement returned. */
export function lockedExecutions(
  locked: readonly { readonly execution_id: string }[],
  rows: readonly RowOf<typeof lockedRow>[],
): ReadonlyMap<string, LockedExecution> {
  const ids = new Set(locked.map((row) => row.execution_id))
  return new Map(rows.flatMap((row) => (ids.has(row.execution_id) ? [[row.execution_id, decodeLocked(row)]] : [])))
}

export function decodeLocked(row: RowOf<typeof lockedRow>): LockedExecution {
  return {
    uuid: row.execution_id,
    partition: row.partition_key,
    namespace: row.namespace,
    lifecyclePhase: row.lifecycle_phase,
    eligibilityState: row.eligibility_state,
    attemptState: row.attempt_state,
    interruption: row.interruption,
    publicState: row.public_state,
    attached: row.attached,
    queueId: row.queue_id,
    generation: row.generation,
    attemptIndex: row.attempt_index,
    retryCount: row.retry_count,
    consecutiveExpiryCount: row.consecutive_expiry_count,
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    lease:
      row.expires_at_ms === null
        ? null
        : {
            expiresAt: row.expires_at_ms,
            isStarted: row.is_started === true,
            workerInstanceId: row.worker_instance_id!,
          },
    startedAt: row.started_at_ms,
    delayUntil: row.delay_until_ms,
    deadlineAt: row.deadline_at_ms,
    attemptDeadlineAt: row.attempt_deadline_at_ms,
    stop:
      row.cancel_requested_at_ms === null
        ? null
        : {
            requestedAt: row.cancel_requested_at_ms,
            deadlineAt: row.cancel_deadline_at_ms,
            reason: row.cancellation_reason,
            actor: row.cancelled_by,
            outcome: row.stop_outcome,
          },
    now: row.now_ms,
  }
}

const readPolicies = statement({
  name: 'execution.read-policies',
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid', policy: 'jsonb?' },
  text: `
select e.execution_id, n.policy
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])`,
})

/** The policies of executions. They never change, so no lock is needed. */
export function readPoliciesCall(uuids: readonly string[]) {
  return call(readPolicies, { execution_ids: uuids })
}

export function policiesOf(
  rows: readonly { readonly execution_id: string; readonly policy: unknown }[],
): ReadonlyMap<string, ExecutionPolicy | null> {
  return new Map(rows.map((row) => [row.execution_id, row.policy as ExecutionPolicy | null]))
}

const readProgressed = statement({
  name: 'execution.read-progressed',
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid' },
  text: `
select e.execution_id
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
where ${hasRecordedSql('e')}`,
})

/** The executions that have recorded a step under their current lease. */
export function readProgressedCall(uuids: readonly string[]) {
  return call(readProgressed, { execution_ids: uuids })
}

export function progressedOf(rows: readonly { readonly execution_id: string }[]): ReadonlySet<string> {
  return new Set(rows.map((row) => row.execution_id))
}
