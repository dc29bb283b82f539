// Leases that expired: the holder died or was too slow. Each execution returns to the queue with the same attempt, or ends
// (`src/model/lease-expiry.ts`).
import { expireLease } from '../../model/lease-expiry.ts'
import type { HeldLease, LockedExecution } from '../../model/locked-execution.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { RowFault } from '../kernel/run-duty.ts'
import { policiesOf, readPoliciesCall, readProgressedCall } from '../transition/read-locked.ts'
import { ends, requeues, type Transition } from '../transition/transitions.ts'
import { decidedBy, timerDuty } from './timer-duty.ts'

const name = 'lease-expiry'

// Locks the lease too, after its execution: a renewal touches the lease alone.
const lock = statement({
  name: `duty.${name}.lock`,
  params: { execution_ids: 'uuid[]' },
  row: { execution_id: 'uuid' },
  text: `
select e.execution_id
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
order by i.execution_id
for no key update of e, l skip locked`,
})

/** Returns those of these executions whose lease has expired to the queue. */
export const takeExpiredLeases = decidedBy({
  duty: name,
  lock: (uuids) => call(lock, { execution_ids: uuids }),
  reads: (uuids) => [readPoliciesCall(uuids), readProgressedCall(uuids)],
  decide: (executions, [policies, progressed]) => {
    const expired = executions.filter(hasExpired)
    const policyOf = policiesOf(policies)
    const withProgress = new Set(progressed.map((row) => row.execution_id))
    const counts = countsOf(expired.map(({ lease }) => lease.workerInstanceId))
    return expired.map((execution) => {
      const hasNeighbours = counts.get(execution.lease.workerInstanceId)! > 1
      const policy = checked(policyOf.get(execution.uuid) ?? null)
      return expire(execution, policy, withProgress.has(execution.uuid), hasNeighbours)
    })
  },
})

export const leaseExpiry = timerDuty({
  name,
  timer: { column: 'ff_lease.expires_at_ms', passes: '<', where: 't.expires_at_ms > 0' },
  intervalMs: 1000,
  act: takeExpiredLeases,
})

// A policy was checked when it was stored. An execution with a policy that was damaged since must not be reclaimed for ever.
function checked(policy: ExecutionPolicy | null): ExecutionPolicy | null {
  const most = policy?.maxReclaimCount
  if (most === undefined || Number.isInteger(most)) return policy
  throw new RowFault(`its policy allows ${JSON.stringify(most)} reclaims, which is no whole number`)
}

type LeasedExecution = LockedExecution & { readonly lease: HeldLease }

function hasExpired(execution: LockedExecution): execution is LeasedExecution {
  return execution.lease !== null && execution.lease.expiresAt < execution.now
}

function countsOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

const crash = { category: 'infra_crash', error: null, errorEncoding: null }

function expire(
  execution: LeasedExecution,
  policy: ExecutionPolicy | null,
  hasProgressed: boolean,
  hasNeighbours: boolean,
): Transition {
  const { isStarted } = execution.lease
  const expired = { ...execution, isStarted, hasProgressed, hasNeighbours, policy }
  const expiry = expireLease(expired, name, Math.random())
  switch (expiry.kind) {
    case 'failed':
      return ends(execution, { outcome: 'failed', reason: 'reclaim_limit', actor: name, failure: crash })
    case 'cancelled':
      return ends(execution, { outcome: 'cancelled', reason: expiry.reason, actor: expiry.actor })
    case 'requeued':
      return requeues(execution, {
        actor: name,
        reason: expiry.cleansUp ? 'reclaim_limit' : null,
        event: 'lapsed',
        leaseEffect: 'expired',
        attemptState: 'attempt_interrupted',
        interruption: 'lapsed',
        nextAt: expiry.nextAt,
        expiryCount: expiry.expiryCount,
        attemptOutcome: 'lease_expired_reclaimable',
        failure: expiry.cleansUp ? crash : undefined,
        stopOutcome: expiry.cleansUp ? 'failed' : undefined,
      })
  }
}
