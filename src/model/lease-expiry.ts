// Decides about an execution whose lease expired: its holder died or was too slow. It returns to the queue with the same
// attempt. Expiries of started runs are counted until the execution makes progress. From the second expiry in a row on,
// the reclaim waits, and past the limit of the policy the execution fails.
import { limits } from './limits.ts'
import type { ExecutionPolicy } from './policy.ts'
import { cancelledWhenLeft, endsWhenLeft, limitAsks, type Stoppable } from './stop.ts'

export interface ExpiredExecution extends Stoppable {
  /** Expiries in a row without progress, before this one. */
  readonly consecutiveExpiryCount: number
  /** Its worker had reported that the handler started. */
  readonly isStarted: boolean
  /** It recorded a step under this lease. */
  readonly hasProgressed: boolean
  /** The worker lost other executions at the same time. */
  readonly hasNeighbours: boolean
  readonly policy: ExecutionPolicy | null
  /** The database's time. */
  readonly now: number
}

export type LeaseExpiry =
  | { readonly kind: 'failed' }
  | { readonly kind: 'cancelled'; readonly reason: string; readonly actor: string }
  | {
      readonly kind: 'requeued'
      /** Expiries in a row without progress, with this one. */
      readonly expiryCount: number
      /** Null: it can be claimed at once. */
      readonly nextAt: number | null
      /** It has reached the limit, and its code cleans up before it fails. */
      readonly cleansUp: boolean
    }

const longestDoubling = 6
// Executions that lost one worker together are tried again apart, so that the one that kills its process is alone in the
// end. Delays are promoted once a second: less than several seconds would bring them back together.
const spreadMs = 10_000

/** `random` is from 0 up to 1; `actor` is the name of the duty. */
export function expireLease(execution: ExpiredExecution, actor: string, random: number): LeaseExpiry {
  const { consecutiveExpiryCount, isStarted, hasProgressed, policy, stop } = execution
  const expiryCount = (hasProgressed ? 0 : consecutiveExpiryCount) + (isStarted ? 1 : 0)
  const most = policy?.maxReclaimCount ?? limits.defaultReclaimCount
  const isLimitReached = isStarted && stop === null && expiryCount > most
  if (isLimitReached && !limitAsks(execution)) return { kind: 'failed' }
  if (endsWhenLeft(execution)) {
    const { reason, actor: by } = cancelledWhenLeft(execution, actor)
    return { kind: 'cancelled', reason, actor: by }
  }
  return { kind: 'requeued', expiryCount, nextAt: nextAt(execution, expiryCount, random), cleansUp: isLimitReached }
}

function nextAt({ isStarted, hasNeighbours, now }: ExpiredExecution, expiryCount: number, random: number) {
  if (!isStarted || expiryCount < 2) return null
  const doubled = limits.reclaimDelayMs * 2 ** Math.min(expiryCount - 2, longestDoubling)
  const spread = hasNeighbours ? Math.floor(random * spreadMs) : 0
  return now + Math.min(doubled, limits.reclaimDelayMaxMs) + spread
}
