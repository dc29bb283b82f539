// The fence, for decisions in this process: a worker may write to an execution only while the lease that its claim
// returned is the current one and has not expired.
import type { LockedExecution } from './locked-execution.ts'

/** The lease that a worker names in a write. */
export interface GivenLease {
  readonly leaseId: string
  readonly leaseEpoch: number
}

type Leased = Pick<LockedExecution, 'lifecyclePhase' | 'leaseId' | 'leaseEpoch' | 'lease' | 'now'>

/** The lease is the execution's current one, or the last one that it had. */
export function isLastLease(execution: Leased, given: GivenLease): boolean {
  return execution.leaseId === given.leaseId && execution.leaseEpoch === given.leaseEpoch
}

/** The lease is the execution's current one, and has not expired. */
export function isHeldBy(execution: Leased, given: GivenLease): boolean {
  const { lifecyclePhase, lease, now } = execution
  return lifecyclePhase === 'active' && isLastLease(execution, given) && lease !== null && lease.expiresAt > now
}
