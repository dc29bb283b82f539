// A turn of a duty in this process, from the moment it was taken: it runs until a set is short, extends its term between the
// sets, and gives the duty back.
import type { Filter } from '../../model/tag.ts'
import { EngineError, isUnreachable } from '../../model/errors.ts'
import type { Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { asEngineError } from '../kernel/failure.ts'
import type { Duty, Report } from '../kernel/duty.ts'
import type { Publish } from '../kernel/effects.ts'
import { termMs } from './poll-duties.ts'
import { extendDuty, giveDutyBack, type DutyTaker } from './taken-duty.ts'

export interface DutyReport extends Report {
  /** By the database's clock; null when it is not known. */
  readonly finishedAt: number | null
  /** The error that ended the last run. */
  readonly failure?: string
}

/** The report of a duty's turn in this process, from the moment it was taken. */
export interface DutyTurn extends Report {
  readonly duty: string
  readonly tookMs: number
}

export interface TurnOptions {
  readonly sql: Sql
  readonly filter: Filter
  readonly logger: Logger
  readonly publish: Publish
  readonly onTurn: (turn: DutyTurn) => void
  /** Duties that lack a right: the log reports each once, until it has succeeded. */
  readonly lackingRight: Set<string>
}

// A turn ends after so many sets, so that other duties of this process get their turns; it is due again at once.
const mostSets = 50
const extendAfterMs = termMs / 3

/** The report, and whether the next run may find more. */
export async function takeTurn(
  options: TurnOptions,
  duty: Duty,
  taker: DutyTaker,
  takenAt: number,
  signal: AbortSignal,
): Promise<{ report: DutyReport; isFull: boolean }> {
  const { sql, onTurn } = options
  const began = performance.now()
  const { isFull, ...report } = await runSets(options, duty, taker, signal)
  onTurn({ duty: duty.name, tookMs: performance.now() - began, processed: report.processed, errors: report.errors })
  const finishedAt = await giveDutyBack(sql, taker, takenAt, isFull ? 0 : duty.intervalMs, report)
  return { report: { ...report, finishedAt }, isFull }
}

async function runSets(
  options: TurnOptions,
  duty: Duty,
  taker: DutyTaker,
  signal: AbortSignal,
): Promise<Report & { isFull: boolean; failure?: string }> {
  const { sql, filter, logger, publish, lackingRight } = options
  let [processed, errors, isFull] = [0, 0, true]
  let extendedAt = performance.now()
  try {
    for (let sets = 0; isFull && sets < mostSets && !signal.aborted; sets++) {
      if (performance.now() - extendedAt > extendAfterMs) {
        extendedAt = performance.now()
        await extendDuty(sql, taker)
      }
      const run = await duty.runOnce(sql, { filter, batch: batchOf(sql), logger })
      processed += run.processed
      errors += run.errors
      isFull = run.isFull
      publish(run.effects)
    }
    lackingRight.delete(duty.name)
    return { processed, errors, isFull }
  } catch (error) {
    const failure = messageOf(error)
    // The connection reports an outage, once for everything that uses it.
    const isReported = isUnreachable(asEngineError(error)) || lackingRight.has(duty.name)
    if (EngineError.is(error, 'database_right_missing')) lackingRight.add(duty.name)
    const progress = processed === 0 ? '' : ` after ${processed} rows`
    logger[isReported ? 'debug' : 'error'](`background duty ${duty.name} failed${progress}: ${failure}`)
    return { processed, errors: errors + 1, isFull: false, failure }
  }
}

// Embedded, a set runs on the caller's own thread, so it must end soon.
function batchOf(sql: Sql): number {
  return sql.kind === 'embedded' ? 100 : 1000
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
