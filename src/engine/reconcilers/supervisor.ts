// The supervisor: every duty once an interval over the whole fleet, as long as any process runs one. A duty that fails is
// told to the logger and comes again; it stops neither itself nor the others.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Filter } from '../../model/tag.ts'
import { silent, type Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { allDuties } from './all.ts'
import type { Duty, Report } from './duty.ts'
import { giveDutyBack, registerDuty, takeDuty, type Taker } from './taken-duty.ts'

export interface SupervisorOptions {
  /** By the duty's name; a duty that is not named keeps its own interval. */
  readonly intervals?: Readonly<Record<string, Duration>>
  /** Only executions that match; supervisors with different filters share a database. */
  readonly filter?: Filter
  readonly logger?: Logger
  /** Hears the queues into which something was put. */
  readonly onReady?: (queueIds: readonly number[]) => void
  readonly duties?: readonly Duty[]
}

export interface DutyReport extends Report {
  /** By the database's clock; null when it could not be told. */
  readonly finishedAt: number | null
  /** Why the last run broke off. */
  readonly failure?: string
}

// One turn ends after so many sets, so that the duty is given back well before its time is up, and is due again at once.
const mostSets = 50
// Of the interval, left to chance: processes that started together drift apart.
const jitter = 0.1
// Between two looks at a row that another process is looking at.
const shortestWaitMs = 20

export class Supervisor {
  readonly #sql: Sql
  readonly #options: SupervisorOptions
  readonly #duties: readonly Duty[]
  readonly #logger: Logger
  readonly #reports = new Map<string, DutyReport>()
  #stopping = new AbortController()
  #loops: Promise<void>[] = []

  constructor(sql: Sql, options: SupervisorOptions = {}) {
    refuseUnknownFields('supervisor', options, ['intervals', 'filter', 'logger', 'onReady', 'duties'])
    const { duties = allDuties, intervals = {}, logger = silent } = options
    refuseUnknownFields(
      'intervals',
      intervals,
      duties.map((duty) => duty.name),
    )
    this.#sql = sql
    this.#options = options
    this.#logger = logger
    this.#duties = duties.map((duty) => ({ ...duty, intervalMs: intervalOf(duty, intervals[duty.name]) }))
  }

  /** The last report of each duty that this process has done. */
  get reports(): ReadonlyMap<string, DutyReport> {
    return this.#reports
  }

  /** Does nothing while it runs. */
  start(): void {
    if (this.#loops.length > 0) return
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    this.#loops = this.#duties.map((duty) => this.#loop(duty, signal))
  }

  /** Resolves when the sets under way are done. May be called at any time, and more than once. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#loops)
    this.#loops = []
  }

  async #loop(duty: Duty, signal: AbortSignal): Promise<void> {
    const taker = { duty: duty.name, filter: filterText(this.#options.filter), takenBy: `${ourName}:${randomUUID()}` }
    let isRegistered = false
    while (!signal.aborted) {
      let waitMs = duty.intervalMs
      try {
        if (!isRegistered) await registerDuty(this.#sql, taker)
        isRegistered = true
        waitMs = await this.#turn(duty, taker, signal)
      } catch (error) {
        this.#logger.error(`${duty.name} could not be taken or given back: ${messageOf(error)}`)
      }
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }

  /** How long to wait before the next look. */
  async #turn(duty: Duty, taker: Taker, signal: AbortSignal): Promise<number> {
    const waitMs = await takeDuty(this.#sql, taker)
    if (waitMs !== null) return Math.min(Math.max(waitMs, shortestWaitMs), duty.intervalMs)
    const { isFull, ...report } = await this.#sweep(duty, signal)
    const nextInMs = isFull ? 0 : Math.round(duty.intervalMs * (1 - jitter * Math.random()))
    const finishedAt = await giveDutyBack(this.#sql, taker, nextInMs, report)
    this.#reports.set(duty.name, { ...report, finishedAt })
    return nextInMs
  }

  async #sweep(duty: Duty, signal: AbortSignal): Promise<Report & { isFull: boolean; failure?: string }> {
    const { filter = {}, onReady } = this.#options
    let [processed, errors, isFull] = [0, 0, true]
    try {
      for (let sets = 0; isFull && sets < mostSets && !signal.aborted; sets++) {
        const run = await duty.runOnce(this.#sql, { filter, batch: batchOf(this.#sql), logger: this.#logger })
        processed += run.processed
        errors += run.errors
        isFull = run.isFull
        if (run.readyQueueIds.length > 0) onReady?.(run.readyQueueIds)
      }
      return { processed, errors, isFull }
    } catch (error) {
      const failure = messageOf(error)
      this.#logger.error(`${duty.name} broke off after ${processed}: ${failure}`)
      return { processed, errors: errors + 1, isFull: false, failure }
    }
  }
}

const ourName = `${hostname()}:${process.pid}`

// Embedded, a set runs on the caller's own thread, so it must end soon.
function batchOf(sql: Sql): number {
  return sql.kind === 'embedded' ? 100 : 1000
}

function intervalOf(duty: Duty, given: Duration | undefined): number {
  if (given === undefined) return duty.intervalMs
  const intervalMs = parseDuration(`intervals.${duty.name}`, given)
  if (intervalMs > 0) return intervalMs
  throw new EngineError('invalid_input', `the interval of ${duty.name} is 0; it must be longer than nothing`, {
    field: `intervals.${duty.name}`,
  })
}

function filterText({ namespace, tag }: Filter = {}): string {
  if (namespace === undefined && tag === undefined) return ''
  return JSON.stringify([namespace ?? null, ...(tag === undefined ? [] : [tag.key, tag.value])])
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
