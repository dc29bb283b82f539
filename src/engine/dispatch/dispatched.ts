import type { RowOf } from '../../sql/statement.ts'
import type { dutyRow } from '../kernel/candidate.ts'

/** What one set of what endings owe others came to. */
export interface Dispatched {
  /** As many as one set takes: there may be more. */
  readonly seen: number
  /** Fewer than were seen: the others were held, and are met again. */
  readonly done: number
  /** Since when the oldest of those that were seen is owed; null when there were none, or it is not told. */
  readonly oldestMs: number | null
  readonly readyQueueIds: readonly number[]
  /** Of what became delayed, the shortest. */
  readonly delayMs: number | null
  /** Executions that are to be cancelled now. */
  readonly backlogged: number
  /** What its own endings owe, as bits of `owed`; left out when there is nothing. */
  readonly owes?: number
  /** Runs that were cancelled, by uuid; left out when none could be. */
  readonly calledOffIds?: readonly string[]
  /** Left out when none could end. */
  readonly endedFlowIds?: readonly string[]
}

/** As a sweep tells it. */
export function dutyRowOf({ seen, done, readyQueueIds, owes = 0 }: Dispatched): RowOf<typeof dutyRow> {
  return { seen, processed: done, ready_queue_ids: [...readyQueueIds], owes, called_off_ids: [] }
}
