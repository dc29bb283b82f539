import type { Effects } from '../kernel/effects.ts'
import { emptyDutySet, type DutySet } from '../kernel/run-duty.ts'

/** The result of one set of pending dispatch. */
export interface Dispatched {
  /** The rows found. If they are as many as one set takes, more may follow. */
  readonly seen: number
  /** The rows processed. If fewer than `seen`, the others were locked, and a later set takes them. */
  readonly done: number
  /** The creation time of the oldest row found; null for none, or when it is not reported. */
  readonly oldestMs: number | null
  readonly effects: Effects
}

/** The same for a duty. */
export function dutySetOf({ seen, done, effects }: Dispatched): DutySet {
  if (seen === 0) return emptyDutySet
  return { seen, processed: done, effects: { ...effects, wroteEvents: done > 0 } }
}
