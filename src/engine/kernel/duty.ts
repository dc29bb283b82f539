// A duty: a set operation that runs from time to time, because time itself changes no row.
import type { Filter } from '../../model/tag.ts'
import type { Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { mergeEffects, type Effects } from './effects.ts'

export interface RunOptions {
  /** Only executions of this namespace, with this tag. */
  readonly filter?: Filter
  /** The most rows that one run reads; defaults to 1000. */
  readonly batch?: number
  /** Receives an error for each row that could not be processed. */
  readonly logger?: Logger
}

export interface Report {
  readonly processed: number
  /** Rows that the database refused; each is quarantined and retried later. */
  readonly errors: number
}

export interface Run extends Report {
  /** The run read a full batch, so the next one may find more rows. */
  readonly isFull: boolean
  readonly effects: Effects
}

/** Two runs of one duty as one. */
export function together(one: Run, other: Run): Run {
  return {
    processed: one.processed + other.processed,
    errors: one.errors + other.errors,
    isFull: one.isFull || other.isFull,
    effects: mergeEffects(one.effects, other.effects),
  }
}

export interface Duty {
  readonly name: string
  /** The rows that it processes. If omitted, it runs once an interval, with or without due rows. */
  readonly watch?: TimerWatch
  /** The delay of the next run after a run that left due rows. Rows that are not prompt wait as long. */
  readonly intervalMs: number
  /** It concerns the database and no execution: it runs once, whatever filters the processes have. */
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
