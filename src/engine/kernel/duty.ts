// A duty: what somebody has to do from time to time, because time itself changes no row.
import type { Filter } from '../../model/tag.ts'
import type { Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'

export interface RunOptions {
  /** Only executions of this namespace, with this tag. */
  readonly filter?: Filter
  /** The most that one run looks at; 1000 when left out. */
  readonly batch?: number
  /** Hears of each row that could not be processed. */
  readonly logger?: Logger
}

export interface Report {
  readonly processed: number
  /** Rows that the database refused; each is set aside and tried again later. */
  readonly errors: number
}

export interface Run extends Report {
  /** As much as one run takes was there, so that the next may find more. */
  readonly isFull: boolean
  /** Queues into which something was put. */
  readonly readyQueueIds: readonly number[]
  /** What it left for others to do, as bits of `owed`; left out when there is nothing. */
  readonly owes?: number
  /** Runs that it ended or took away, by uuid; left out when there is none. */
  readonly calledOffIds?: readonly string[]
}

/** Two runs of one duty as one. */
export function together(one: Run, other: Run): Run {
  const owes = (one.owes ?? 0) | (other.owes ?? 0)
  const calledOffIds = [...(one.calledOffIds ?? []), ...(other.calledOffIds ?? [])]
  return {
    processed: one.processed + other.processed,
    errors: one.errors + other.errors,
    isFull: one.isFull || other.isFull,
    readyQueueIds: [...new Set([...one.readyQueueIds, ...other.readyQueueIds])],
    ...(owes !== 0 && { owes }),
    ...(calledOffIds.length > 0 && { calledOffIds }),
  }
}

export interface Duty {
  readonly name: string
  /** The rows that it processes. Left out: it runs once an interval, whatever there is. */
  readonly watch?: TimerWatch
  /** How long after a run that left due rows behind the next one follows; and how long rows wait that are not prompt. */
  readonly intervalMs: number
  /** Of the database and not of executions: done once, whatever the filters of those who do it. */
  readonly isOfDatabase?: boolean
  runOnce(sql: Sql, options?: RunOptions): Promise<Run>
}

/** The rows that a duty processes: it runs only when one of them is due. */
export interface TimerWatch {
  /** When a row is due, as `table.column`; the column leads an index. */
  readonly column: string
  /** The condition of that index, where it has more than that the column is set. */
  readonly where?: string
  /** Due rows are processed at once. Otherwise they wait until the interval since the last run is over. */
  readonly isPrompt: boolean
}
