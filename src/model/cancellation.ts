// Decides the effect of a cancel on an execution, leased or not. It ends at once, unless its code has something to clean
// up, or the caller grants a running one a grace: then it is asked to stop, and ends by a deadline.
import { limits } from './limits.ts'
import type { LifecyclePhase } from './state.ts'
import { isAskedByCancel, type Stoppable } from './stop.ts'

export interface CancellableExecution extends Stoppable {
  readonly lifecyclePhase: LifecyclePhase
  /** The database's time. */
  readonly now: number
}

export interface CancelTerms {
  /** How long a running execution may go on. */
  readonly graceMs: number
  /** How long the clean-up may take; null: the grace, else the built-in time. */
  readonly deadlineMs: number | null
  /** No clean-up and no grace. */
  readonly isForced: boolean
}

export type Cancelling =
  /** It has ended before. */
  | { readonly kind: 'none' }
  | { readonly kind: 'ends' }
  /** `isNew`: this cancel moves the end of the grace, or is the first. Otherwise the earlier end stays. */
  | { readonly kind: 'asked'; readonly until: number; readonly isNew: boolean }

export function cancel(execution: CancellableExecution, { graceMs, deadlineMs, isForced }: CancelTerms): Cancelling {
  const { lifecyclePhase, now } = execution
  if (lifecyclePhase === 'terminal') return { kind: 'none' }
  if (isForced) return { kind: 'ends' }
  if (isAskedByCancel(execution)) {
    const cleanUpMs = deadlineMs ?? (graceMs > 0 ? graceMs : limits.cancelDeadlineMs)
    return asked(execution, now + cleanUpMs)
  }
  return lifecyclePhase === 'active' && graceMs > 0 ? asked(execution, now + graceMs) : { kind: 'ends' }
}

function asked({ stop }: CancellableExecution, until: number): Cancelling {
  const earlier = stop?.deadlineAt ?? null
  if (earlier !== null && earlier <= until) return { kind: 'asked', until: earlier, isNew: false }
  return { kind: 'asked', until, isNew: true }
}

/** What a cancel of a flow, a group or a parent does to a member. */
export function cancelMember(
  execution: CancellableExecution & { readonly startedAt: number | null },
  { isOnlyPending, isSameLife }: { readonly isOnlyPending: boolean; readonly isSameLife: boolean },
): 'none' | 'ends' | 'asked' {
  if (execution.lifecyclePhase === 'terminal' || !isSameLife) return 'none'
  if (isOnlyPending && execution.startedAt !== null) return 'none'
  if (!isAskedByCancel(execution)) return 'ends'
  return execution.stop === null ? 'asked' : 'none'
}
