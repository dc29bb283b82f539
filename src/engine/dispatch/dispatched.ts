import type { Effects } from '../kernel/effects.ts'
import { emptyDutySet, type DutySet } from '../kernel/run-duty.ts'

/** What one set of what endings owe others came to. */
export interface Dispatched {
  /** As many as one set takes: there may be more. */
  readonly seen: number
  /** Fewer than were seen: the others were held, and are met again. */
  readonly done: number
  /** Since when the oldest of those that were seen is owed; null when there were none, or it is not told. */
  readonly oldestMs: number | null
  readonly effects: Effects
}

/** The same for a duty. */
export function dutySetOf({ seen, done, effects }: Dispatched): DutySet {
  if (seen === 0) return emptyDutySet
  return { seen, processed: done, effects: { ...effects, wroteEvents: done > 0 } }
}
