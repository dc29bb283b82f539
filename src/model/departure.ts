// Decides how an execution leaves its holder when the holder fails it, gives it back or restarts it. An execution that
// was asked to stop does not return to the queue, unless its code has something to clean up.
import type { LockedExecution } from './locked-execution.ts'
import { retryDelayMs, shouldRetry, type ExecutionPolicy, type FailureCategory } from './policy.ts'
import { cancelledWhenLeft, endsWhenLeft, type Stoppable } from './stop.ts'

/** It ends instead of coming back: it was asked to stop, and has nothing to clean up. */
export interface Cancelled {
  readonly kind: 'cancelled'
  readonly ending: ReturnType<typeof cancelledWhenLeft>
}

export interface Failure {
  readonly category: FailureCategory
  readonly permanent: boolean
  /** Instead of the back-off of the policy. */
  readonly retryInMs: number | null
}

export type FailDecision =
  | { readonly kind: 'failed' }
  | Cancelled
  /** `nextAt`: no worker can claim it before; null means at once. */
  | { readonly kind: 'retried'; readonly nextAt: number | null }

type Failing = Stoppable & Pick<LockedExecution, 'retryCount' | 'now'>

/** `random` is from 0 up to 1; `actor` is the holder. */
export function decideFail(
  execution: Failing,
  policy: ExecutionPolicy | null,
  { category, permanent, retryInMs }: Failure,
  actor: string,
  random: number,
): FailDecision {
  const { retryCount, stop, now } = execution
  if (!shouldRetry(policy, retryCount, category, permanent)) return { kind: 'failed' }
  if (endsWhenLeft(execution)) return { kind: 'cancelled', ending: cancelledWhenLeft(execution, actor) }
  // An execution that was asked to stop comes back to clean up, and that does not wait.
  const delayMs = stop === null ? (retryInMs ?? retryDelayMs(policy, retryCount, random)) : 0
  return { kind: 'retried', nextAt: delayMs > 0 ? now + delayMs : null }
}

/** A duration or a point in time; neither means at once. */
export interface Delay {
  readonly delayMs: number | null
  readonly delayUntil: number | null
}

export type GiveBackDecision = Cancelled | { readonly kind: 'given_back'; readonly nextAt: number | null }

export function decideGiveBack(
  execution: Stoppable & Pick<LockedExecution, 'now'>,
  delay: Delay,
  actor: string,
): GiveBackDecision {
  if (endsWhenLeft(execution)) return { kind: 'cancelled', ending: cancelledWhenLeft(execution, actor) }
  return { kind: 'given_back', nextAt: dueAt(delay, execution.now) }
}

/** When a delay that began at `from` is over; null when it is over already. */
export function dueAt({ delayMs, delayUntil }: Delay, from: number): number | null {
  const at = delayUntil ?? from + (delayMs ?? 0)
  return at > from ? at : null
}

/**
 * The expiries in a row without progress after a release; null keeps the count. A worker that is busy or stops also releases
 * executions that it only prefetched. That is no progress, and must not clear the count of a crash loop.
 */
export function expiryCountAfterRelease({ lease }: Pick<LockedExecution, 'lease'>, hasProgressed: boolean): 0 | null {
  return lease?.isStarted === true || hasProgressed ? 0 : null
}

export type RestartDecision =
  | Cancelled
  /** It was asked to stop: its code runs once more in the same generation, to clean up. */
  | { readonly kind: 'cleans_up' }
  | { readonly kind: 'restarted' }

export function decideRestart(execution: Stoppable, actor: string): RestartDecision {
  if (endsWhenLeft(execution)) return { kind: 'cancelled', ending: cancelledWhenLeft(execution, actor) }
  return { kind: execution.stop === null ? 'restarted' : 'cleans_up' }
}

/** How an execution ends that its holder cancels. After a clean-up it ends as the request to stop demanded. */
export function endingOfHolderCancel({ stop }: Stoppable, reason: string | null, actor: string) {
  return {
    outcome: stop?.outcome ?? 'cancelled',
    reason: reason ?? stop?.reason ?? null,
    actor: stop?.actor ?? actor,
  } as const
}
