// Revoke: an operator ends a lease. The execution returns to its queue with the same attempt; the holder's next
// write is refused, because its lease was revoked.
import { text } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { reason } from '../../model/named-fields.ts'
import { isEnded } from '../../model/state.ts'
import { cancelledWhenLeft, endsWhenLeft } from '../../model/stop.ts'
import type { Sql } from '../../sql/sql.ts'
import { mayRepeat, readRequestsCall, rememberRequestsCall, requestId } from '../execution/request-memory.ts'
import type { SetOperation } from '../kernel/merge.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { operatorRequest } from '../transition/operator-request.ts'
import { decidedSet, type DecidedTarget } from '../transition/operator-set.ts'
import { readProgressedCall } from '../transition/read-locked.ts'
import { ends, requeues } from '../transition/transitions.ts'

export const revokeRequest = operatorRequest(
  'revoke',
  {
    /** Only from this worker instance; if omitted, from any. */
    workerInstanceId: text({ maxBytes: limits.workerNameBytes }).optional(),
    /** Only this lease. */
    leaseId: text({ maxBytes: limits.leaseIdBytes }).optional(),
    reason: reason.optional(),
    /** A call with the id of an earlier one returns its result; without an id, each call acts by itself. */
    requestId,
  },
  { mayRepeat },
)

export interface RevokeRequest extends RequestOf<typeof revokeRequest.fields> {}

type Revocation = ItemOf<typeof revokeRequest>

export type RevokeResult =
  | {
      readonly kind: 'revoked'
      readonly executionId: ExecutionId
      readonly leaseId: string
      readonly leaseEpoch: number
    }
  /** A cancel had been requested, so it ended instead. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }
  | {
      readonly kind: 'not_held'
      readonly executionId: ExecutionId
      readonly why: NotHeld
    }

/**
 * `already_revoked`: the last lease was revoked, and no worker has claimed since. `ended`: the execution has ended.
 * `never_claimed`: no worker has ever claimed it. `no_active_lease`: the holder released or lost it, or it is suspended or delayed.
 */
export type NotHeld =
  | 'already_revoked'
  | 'ended'
  | 'never_claimed'
  | 'no_active_lease'
  | 'different_worker_instance_id'
  | 'lease_id_mismatch'

/** The result as it is stored. */
type Kept =
  | { readonly kind: 'revoked'; readonly leaseId: string; readonly leaseEpoch: number }
  | { readonly kind: 'cancelled' }

export function revokeOperation(sql: Sql): SetOperation<Revocation, RevokeResult> {
  return decidedSet(sql, {
    reads: (items, again) => [readProgressedCall(items.map((item) => item.uuid)), readRequestsCall(items, again)],
    decide: (found, [progressed, repeated]) => {
      const withProgress = new Set(progressed.map((row) => row.execution_id))
      const keptOf = new Map(repeated.map((row) => [row.execution_id, row.answer as Kept]))
      return found.map(({ item, execution }) => {
        const { executionId, uuid } = item
        const kept = keptOf.get(uuid)
        if (kept !== undefined) return { answer: { ...kept, executionId } }
        const why = whyNotHeld(item, execution)
        if (why !== null) return { answer: { kind: 'not_held', executionId, why } }
        return revoke(item, execution, withProgress.has(uuid))
      })
    },
    writes: (decided) => {
      const revoked = decided.flatMap(({ item, answer, transition }) => {
        if (transition === undefined) return []
        const { executionId: _, ...kept } = answer as RevokeResult
        return [{ uuid: item.uuid, requestId: item.requestId, answer: kept }]
      })
      return revoked.length === 0 ? [] : [rememberRequestsCall(revoked)]
    },
  })
}

function revoke(item: Revocation, execution: LockedExecution, hasProgressed: boolean): DecidedTarget<RevokeResult> {
  const { executionId, actor, reason } = item
  if (endsWhenLeft(execution)) {
    const transition = ends(execution, cancelledWhenLeft(execution, actor))
    return { answer: { kind: 'cancelled', executionId }, transition }
  }
  const transition = requeues(execution, {
    actor,
    reason,
    event: 'revoked',
    leaseEffect: 'revoked',
    attemptState: 'attempt_interrupted',
    interruption: 'revoked',
    nextAt: null,
    expiryCount: hasProgressed ? 0 : null,
    attemptOutcome: 'revoked',
  })
  const { leaseId, leaseEpoch } = execution
  return { answer: { kind: 'revoked', executionId, leaseId: leaseId!, leaseEpoch }, transition }
}

/** Null when the lease can be revoked. */
function whyNotHeld({ workerInstanceId, leaseId }: Revocation, execution: LockedExecution): NotHeld | null {
  const { lease } = execution
  if (lease === null) return whyNotLeased(leaseId, execution)
  if (workerInstanceId !== null && workerInstanceId !== '' && workerInstanceId !== lease.workerInstanceId) {
    return 'different_worker_instance_id'
  }
  return leaseId !== null && leaseId !== execution.leaseId ? 'lease_id_mismatch' : null
}

function whyNotLeased(given: string | null, { leaseId, leaseEpoch, publicState, interruption }: LockedExecution) {
  if (leaseId === null || leaseEpoch === 0) return 'never_claimed'
  if (given !== null && given !== leaseId) return 'lease_id_mismatch'
  if (isEnded(publicState)) return 'ended'
  return interruption === 'revoked' ? 'already_revoked' : 'no_active_lease'
}
