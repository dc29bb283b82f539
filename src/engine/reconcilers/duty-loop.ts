// One duty of one process, again and again: wait until it is due, take it from the fleet, sweep until nothing is left, give
// it back with its next time.
import { randomUUID } from 'node:crypto'
import type { Filter } from '../../model/tag.ts'
import type { Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { Bell } from '../bell.ts'
import type { Duty, Report } from './duty.ts'
import { bringDutyForward, giveDutyBack, registerDuty, takeDuty, type Taker } from './taken-duty.ts'

export interface DutyReport extends Report {
  /** By the database's clock; null when it could not be told. */
  readonly finishedAt: number | null
  /** Why the last run broke off. */
  readonly failure?: string
}

/** What a duty did in this process, from the moment it was taken. */
export interface DutyTurn extends Report {
  readonly duty: string
  readonly tookMs: number
}

export interface DutyLoopOptions {
  readonly sql: Sql
  readonly duty: Duty
  readonly filter: Filter
  readonly logger: Logger
  readonly onReady: (queueIds: readonly number[]) => void
  readonly onOwed: (owes: number) => void
  readonly onCalledOff: (executionIds: readonly string[]) => void
  readonly onTurn: (turn: DutyTurn) => void
  readonly processName: string
}

// One turn ends after so many sets, so that the duty is given back well before its time is up, and is due again at once.
const mostSets = 50
// Of the interval, left to chance: processes that started together drift apart.
const jitter = 0.1
// Between two looks at a row that another process is looking at.
const shortestWaitMs = 20
// Between two turns, however close the timers are: what goes off in between goes in one set.
const shortestPauseMs = 50

export class DutyLoop {
  readonly #options: DutyLoopOptions
  readonly #taker: Taker
  readonly #bell = new Bell()
  #report: DutyReport | null = null
  #stopping = new AbortController()
  #running: Promise<void> | null = null
  #isRegistered = false
  /** Told by others and not yet acted upon. */
  #dueInMs: number | null = null

  constructor(options: DutyLoopOptions) {
    this.#options = options
    const { duty, filter, processName } = options
    const scope = duty.isOfDatabase === true ? '' : filterText(filter)
    this.#taker = { duty: duty.name, filter: scope, takenBy: `${processName}:${randomUUID()}` }
  }

  get name(): string {
    return this.#options.duty.name
  }

  get report(): DutyReport | null {
    return this.#report
  }

  watches(timer: string): boolean {
    return this.#options.duty.timers.includes(timer)
  }

  /** A timer that it watches was set, and goes off in so long. */
  isDueIn(ms: number): void {
    if (ms >= this.#options.duty.intervalMs) return
    this.#dueInMs = Math.min(this.#dueInMs ?? ms, ms)
    this.#bell.ring()
  }

  /** While it stops, it begins anew after that. */
  start(): void {
    if (this.#running !== null && !this.#stopping.signal.aborted) return
    this.#stopping = new AbortController()
    this.#running = this.#run(this.#stopping.signal, this.#running)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    const stopped = this.#running
    await stopped
    if (this.#running === stopped) this.#running = null
  }

  async #run(signal: AbortSignal, before: Promise<void> | null): Promise<void> {
    const { duty, logger } = this.#options
    await before
    this.#isRegistered = false
    while (!signal.aborted) {
      let waitMs = duty.intervalMs
      try {
        waitMs = await this.#turn(signal)
      } catch (error) {
        this.#dueInMs = null
        logger.error(`${duty.name} could not be taken or given back: ${messageOf(error)}`)
      }
      if (this.#dueInMs === null) await this.#bell.wait(signal, waitMs)
    }
  }

  /** How long to wait before the next look. */
  async #turn(signal: AbortSignal): Promise<number> {
    const { sql, duty, onTurn } = this.#options
    if (!this.#isRegistered) await registerDuty(sql, this.#taker)
    this.#isRegistered = true
    await this.#comeForward()
    const taken = await takeDuty(sql, this.#taker)
    if (taken.kind === 'waits') return Math.min(Math.max(taken.ms, shortestWaitMs), duty.intervalMs)
    const began = performance.now()
    const { isFull, ...report } = await this.#sweep(signal)
    onTurn({ duty: duty.name, tookMs: performance.now() - began, processed: report.processed, errors: report.errors })
    const nextInMs = isFull ? 0 : await this.#nextInMs(taken.at)
    const finishedAt = await giveDutyBack(sql, this.#taker, nextInMs, report)
    this.#report = { ...report, finishedAt }
    return nextInMs
  }

  async #comeForward(): Promise<void> {
    if (this.#dueInMs === null) return
    const inMs = this.#dueInMs
    this.#dueInMs = null
    await bringDutyForward(this.#options.sql, this.#taker, inMs)
  }

  async #sweep(signal: AbortSignal): Promise<Report & { isFull: boolean; failure?: string }> {
    const { sql, duty, filter, logger, onReady, onOwed, onCalledOff } = this.#options
    let [processed, errors, isFull] = [0, 0, true]
    try {
      for (let sets = 0; isFull && sets < mostSets && !signal.aborted; sets++) {
        const run = await duty.runOnce(sql, { filter, batch: batchOf(sql), logger })
        processed += run.processed
        errors += run.errors
        isFull = run.isFull
        if (run.readyQueueIds.length > 0) onReady(run.readyQueueIds)
        onOwed(run.owes ?? 0)
        if (run.calledOffIds !== undefined) onCalledOff(run.calledOffIds)
      }
      return { processed, errors, isFull }
    } catch (error) {
      const failure = messageOf(error)
      logger.error(`${duty.name} broke off after ${processed}: ${failure}`)
      return { processed, errors: errors + 1, isFull: false, failure }
    }
  }

  // At the very millisecond of a timer it is not yet past for all; one more, and it is.
  async #nextInMs(takenAt: number): Promise<number> {
    const { sql, duty } = this.#options
    const jittered = Math.round(duty.intervalMs * (1 - jitter * Math.random()))
    const timerInMs = (await duty.nextInMs?.(sql, takenAt)) ?? null
    if (timerInMs === null || timerInMs >= jittered) return jittered
    return Math.min(jittered, Math.max(timerInMs + 1, shortestPauseMs))
  }
}

// Embedded, a set runs on the caller's own thread, so it must end soon.
function batchOf(sql: Sql): number {
  return sql.kind === 'embedded' ? 100 : 1000
}

function filterText({ namespace, tag }: Filter): string {
  if (namespace === undefined && tag === undefined) return ''
  return JSON.stringify([namespace ?? null, ...(tag === undefined ? [] : [tag.key, tag.value])])
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
