// The request to stop. An execution whose code has something to clean up does not end at once: it is asked to stop and
// runs once more. It ends when the code ends, at the latest at the deadline of the request.
import { attached } from './attached.ts'
import { limits } from './limits.ts'
import type { PendingOutcome } from './state.ts'

/** The part of an execution that these rules read. */
export interface Stoppable {
  /** Bits of `attached`. */
  readonly attached: number
  /** The request to stop, if there is one. */
  readonly stop: {
    readonly deadlineAt: number | null
    readonly reason: string | null
    readonly actor: string | null
    /** How it ends after the clean-up; null is `cancelled`. */
    readonly outcome: PendingOutcome | null
  } | null
}

/** A cancel asks it to stop first: its code has registered a compensation, or its task has `onCancel`. */
export function isAskedByCancel(execution: Pick<Stoppable, 'attached'>): boolean {
  return (execution.attached & attached.compensation) !== 0
}

/** A deadline, the reclaim limit or a timeout asks it to stop first: also for `onFailure`. */
export function isAskedByLimit(execution: Pick<Stoppable, 'attached'>): boolean {
  return (execution.attached & (attached.compensation | attached.onFailure)) !== 0
}

/** A limit that it has reached asks it to stop. Otherwise the limit ends it. */
export function limitAsks(execution: Stoppable): boolean {
  return isAskedByLimit(execution) && execution.stop === null
}

/** It ends when it leaves its holder: it was asked to stop, and has nothing to clean up. */
export function endsWhenLeft(execution: Stoppable): boolean {
  const { stop } = execution
  if (stop === null || isAskedByCancel(execution)) return false
  return stop.outcome === null || !isAskedByLimit(execution)
}

/** The ending of an execution that leaves its holder, when `endsWhenLeft`; `actor` took it from the holder. */
export function cancelledWhenLeft({ stop }: Stoppable, actor: string) {
  return {
    outcome: 'cancelled',
    reason: stop?.reason ?? 'cancel_requested',
    actor: stop?.actor ?? actor,
  } as const
}

/** The end of the time for the clean-up, unless the caller sets another. */
export function cleanUpUntil(now: number): number {
  return now + limits.cancelDeadlineMs
}
