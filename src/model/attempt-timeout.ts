// Decides about an execution whose attempt took longer than its policy allows, renewed or not. This is a failure of
// category `timeout`: the policy retries it, and when no attempt is left, the execution expires.
import { retryDelayMs, shouldRetry, type ExecutionPolicy } from './policy.ts'
import { cancelledWhenLeft, endsWhenLeft, isAskedByLimit, type Stoppable } from './stop.ts'

export interface TimedOutExecution extends Stoppable {
  readonly retryCount: number
  readonly policy: ExecutionPolicy | null
  /** The database's time. */
  readonly now: number
}

export type AttemptTimeout =
  | { readonly kind: 'expired' }
  | { readonly kind: 'cancelled'; readonly reason: string; readonly actor: string }
  /** `nextAt`: null when it can be claimed at once. */
  | { readonly kind: 'retried'; readonly nextAt: number | null }
  /** Its code runs once more in the same attempt, to clean up. `isAsked`: this is the first request to stop. */
  | { readonly kind: 'cleans_up'; readonly isAsked: boolean }

/** `random` is from 0 up to 1; `actor` is the name of the duty. */
export function timeOutAttempt(execution: TimedOutExecution, actor: string, random: number): AttemptTimeout {
  const { policy, retryCount, stop, now } = execution
  const isRetried = shouldRetry(policy, retryCount, 'timeout', false)
  const endsNow = endsWhenLeft(execution)
  if (isAskedByLimit(execution) && !endsNow && (!isRetried || stop !== null)) {
    return { kind: 'cleans_up', isAsked: stop === null }
  }
  if (!isRetried) return { kind: 'expired' }
  if (endsNow) {
    const { reason, actor: by } = cancelledWhenLeft(execution, actor)
    return { kind: 'cancelled', reason, actor: by }
  }
  const delayMs = retryDelayMs(policy, retryCount, random)
  return { kind: 'retried', nextAt: delayMs > 0 ? now + delayMs : null }
}
