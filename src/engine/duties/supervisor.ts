// The supervisor: every duty, over the whole fleet, as long as any process runs one. A duty that fails is logged and runs
// again; it stops neither itself nor the others.
//
// One process polls: a statement a second takes the duties that are due (`poll-duties.ts`). It returns when the next row is
// due, and the poll after it comes at that moment. A row that is written meanwhile and due sooner is announced by a hint. A
// lost hint costs the rest of the second.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError, isUnreachable } from '../../model/errors.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Filter } from '../../model/tag.ts'
import type { Logger } from '../../sql/logger.ts'
import { loggerOf, type LoggerOption } from '../../model/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { Bell } from '../kernel/bell.ts'
import { asEngineError } from '../kernel/failure.ts'
import { allDuties, defaultKeptFor, type KeptFor } from './all.ts'
import { afterSetBack, smallestStepMs } from './clock-set-back.ts'
import type { Duty } from '../kernel/duty.ts'
import type { Publish } from '../kernel/effects.ts'
import { messageOf, takeTurn, type DutyReport, type DutyTurn, type TurnOptions } from './duty-turn.ts'
import { pollDuties, registerDuties, supervisorRow, type DutyCandidate, type Poller } from './poll-duties.ts'
import { checkFilter } from '../kernel/scope.ts'
import { leaveDuty } from './taken-duty.ts'

export interface SuperviseOptions {
  /** By the duty's name; other duties keep their own interval. */
  readonly intervals?: Readonly<Record<string, Duration>>
  /** Only executions that match; supervisors with different filters share a database. */
  readonly filter?: Filter
  /** How long an execution is kept after it ended, and an event in the log; 30 days each by default. */
  readonly retention?: { readonly endings?: Duration; readonly log?: Duration }
  /** Defaults to the logger of `connect`, which by default is the console, for warnings and errors. `false`: logs nothing. */
  readonly logger?: LoggerOption
  /** Called after each turn of a duty in this process; for metrics. */
  readonly onTurn?: (turn: DutyTurn) => void
}

export const superviseOptionNames = [
  'intervals',
  'filter',
  'retention',
  'logger',
  'onTurn',
] as const satisfies readonly (keyof SuperviseOptions)[]

/** What the engine provides. */
export interface SupervisorDeps {
  /** If omitted, the effects of duties are not published, and other processes poll. */
  readonly publish?: Publish
  /** Reports timers that are due soon, by their columns, until the returned function is called. */
  readonly onDue?: (notify: (column: string, inMs: number) => void) => () => void
  readonly duties?: readonly Duty[]
}

// Pauses between two polls: the longest; after a hint; after a turn that processed rows; and after a turn that processed none,
// whose due rows are locked or belong to another filter.
const longestPauseMs = 1000
const hintedPauseMs = 10
const shortestPauseMs = 50
const fruitlessPauseMs = 250
// Added to the term of the other process, so that idle processes do not all poll at the same moment.
const jitterMs = 200
// When the row that names the polling process is locked by another poll.
const contendedPauseMs = 50

interface Running {
  readonly duty: Duty
  readonly scope: string
  report: DutyReport | null
  turn: Promise<void> | null
  isHinted: boolean
}

export class Supervisor {
  readonly #sql: Sql
  readonly #logger: Logger
  readonly #turnOptions: TurnOptions
  readonly #duties: readonly Running[]
  readonly #deps: SupervisorDeps
  readonly #poller: Poller
  readonly #pollMs: number
  readonly #bell = new Bell()
  #unsubscribe: () => void = () => {}
  #stopping = new AbortController()
  #running: Promise<void> | null = null
  #isPolling = false
  #isRegistered = false
  /** By the process's clock. */
  #polledAt = 0
  #nextPollAt = 0
  /** The time since which the polls have failed, for another reason than an outage; by the process's clock. */
  #failingSince: number | null = null
  /** By how much the database's clock was set back, while leases from before are not shortened. */
  #uncorrectedMs = 0

  constructor(sql: Sql, options: SuperviseOptions = {}, deps: SupervisorDeps = {}) {
    refuseUnknownFields('supervise', options, superviseOptionNames)
    const { intervals = {}, filter = {}, retention = {}, onTurn = () => {} } = options
    const logger = loggerOf(options.logger)
    checkFilter(filter)
    const { duties = allDuties(sql.kind, keptFor(retention)), publish = () => {} } = deps
    const names = duties.map((duty) => duty.name)
    refuseUnknownFields('intervals', intervals, names)
    const scope = filterText(filter)
    this.#sql = sql
    this.#logger = logger
    this.#deps = deps
    this.#turnOptions = { sql, filter, logger, publish, onTurn, lackingRight: new Set() }
    this.#poller = { filter: scope, takenBy: `${processName}:${randomUUID()}` }
    this.#duties = duties.map((duty) => ({
      duty: { ...duty, intervalMs: intervalOf(duty, intervals[duty.name]) },
      scope: duty.isOfDatabase === true ? '' : scope,
      report: null,
      turn: null,
      isHinted: false,
    }))
    this.#pollMs = Math.min(longestPauseMs, ...this.#duties.map(({ duty }) => duty.intervalMs))
  }

  /** The last report of each duty that this process has run. */
  get reports(): ReadonlyMap<string, DutyReport> {
    return new Map(this.#duties.flatMap(({ duty, report }) => (report === null ? [] : [[duty.name, report]])))
  }

  /** Does nothing while it runs. While it stops, it starts again after that. */
  start(): void {
    if (this.#running !== null && !this.#stopping.signal.aborted) return
    this.#unsubscribe()
    this.#unsubscribe = this.#deps.onDue?.((column, inMs) => this.#onDue(column, inMs)) ?? (() => {})
    this.#stopping = new AbortController()
    this.#running = this.#run(this.#stopping.signal, this.#running)
  }

  /** Resolves when the sets under way are done. May be called at any time, and more than once. */
  async stop(): Promise<void> {
    this.#unsubscribe()
    this.#stopping.abort()
    const stopped = this.#running
    await stopped
    if (this.#running === stopped) this.#running = null
  }

  // Only the polling process acts on a hint; otherwise all processes would poll for the same rows.
  #onDue(column: string, inMs: number): void {
    if (!this.#isPolling) return
    for (const each of this.#duties) if (each.duty.watch?.column === column) each.isHinted = true
    // In the millisecond of a timer, it has not passed for every duty; one millisecond later it has.
    this.#pollIn(inMs + 1, hintedPauseMs)
  }

  /** Brings the next poll forward. */
  #pollIn(ms: number, pauseMs: number): void {
    const at = Math.max(performance.now() + ms, this.#polledAt + pauseMs)
    if (at >= this.#nextPollAt) return
    this.#nextPollAt = at
    this.#bell.ring()
  }

  async #run(signal: AbortSignal, before: Promise<void> | null): Promise<void> {
    await before
    this.#isRegistered = false
    while (!signal.aborted) {
      this.#polledAt = performance.now()
      this.#nextPollAt = Infinity
      const waitMs = await this.#round(signal)
      this.#nextPollAt = Math.min(this.#nextPollAt, performance.now() + waitMs)
      for (let leftMs = 0; !signal.aborted && (leftMs = this.#nextPollAt - performance.now()) > 0;) {
        await this.#bell.wait(signal, leftMs)
      }
    }
    await Promise.all(this.#duties.flatMap(({ turn }) => turn ?? []))
    await this.#leave()
  }

  /** How long to wait before the next poll. */
  async #round(signal: AbortSignal): Promise<number> {
    try {
      const waitMs = await this.#poll(signal)
      if (this.#failingSince !== null) {
        const seconds = ((performance.now() - this.#failingSince) / 1000).toFixed(1)
        this.#logger.warn(`background duties run again after ${seconds} s`)
      }
      this.#failingSince = null
      return waitMs
    } catch (error) {
      this.#isRegistered = false
      this.#reportFailure(error)
      return this.#pollMs
    }
  }

  #reportFailure(error: unknown): void {
    // The connection reports that the database is away, once for everything that uses it.
    if (isUnreachable(asEngineError(error)))
      return this.#logger.debug(`background duties cannot run: ${messageOf(error)}`)
    if (this.#failingSince !== null) return
    this.#failingSince = performance.now()
    this.#logger.warn(`background duties cannot run and are retried: ${messageOf(error)}`)
  }

  async #poll(signal: AbortSignal): Promise<number> {
    if (!this.#isRegistered) await registerDuties(this.#sql, this.#poller, this.#duties.map(candidateOf))
    this.#isRegistered = true
    const idle = this.#duties.filter(({ turn }) => turn === null)
    const candidates = idle.map(candidateOf)
    for (const each of idle) each.isHinted = false
    const polled = await pollDuties(this.#sql, this.#poller, candidates, this.#pollMs)
    this.#isPolling = polled.kind === 'polled'
    if (polled.kind === 'waits') {
      // Locked by another poll, or deleted.
      this.#isRegistered = polled.ms > 0
      return Math.max(polled.ms, contendedPauseMs) + Math.random() * jitterMs
    }
    await this.#correctStep(-(polled.lastPollMsAgo ?? 0))
    for (const each of idle) {
      if (polled.taken.includes(each.duty.name)) each.turn = this.#takeTurn(each, polled.at, signal)
    }
    if (polled.nextInMs === null) return this.#pollMs
    return Math.min(this.#pollMs, Math.max(polled.nextInMs + 1, shortestPauseMs))
  }

  // Only one poll notices a step, and a failover that sets the clock back may take connections with it: a correction that failed is
  // tried again with the next poll.
  async #correctStep(setBackMs: number): Promise<void> {
    if (setBackMs > smallestStepMs) this.#uncorrectedMs += setBackMs
    if (this.#uncorrectedMs === 0) return
    await afterSetBack(this.#sql, this.#logger, this.#uncorrectedMs)
    this.#uncorrectedMs = 0
  }

  async #takeTurn(running: Running, takenAt: number, signal: AbortSignal): Promise<void> {
    const { duty, scope } = running
    const taker = { duty: duty.name, filter: scope, takenBy: this.#poller.takenBy }
    let pauseMs = this.#pollMs
    try {
      const { report, isFull } = await takeTurn(this.#turnOptions, duty, taker, takenAt, signal)
      running.report = report
      pauseMs = isFull ? 0 : report.processed > 0 ? shortestPauseMs : Math.min(fruitlessPauseMs, this.#pollMs)
    } catch (error) {
      // Its row stays taken by this process, which takes it again.
      this.#logger.debug(`background duty ${duty.name} could not be released: ${messageOf(error)}`)
    } finally {
      running.turn = null
    }
    // Rows may have become due meanwhile, and the turn may have set timers for other duties.
    this.#pollIn(0, pauseMs)
  }

  /** Another process may poll at once. */
  async #leave(): Promise<void> {
    if (!this.#isPolling) return
    this.#isPolling = false
    const { filter, takenBy } = this.#poller
    await leaveDuty(this.#sql, { duty: supervisorRow, filter, takenBy }).catch(() => {})
  }
}

function candidateOf({ duty, scope, isHinted }: Running): DutyCandidate {
  return { duty: duty.name, filter: scope, intervalMs: duty.intervalMs, isHinted }
}

const processName = `${hostname()}:${process.pid}`

function filterText({ namespace, tag }: Filter): string {
  if (namespace === undefined && tag === undefined) return ''
  return JSON.stringify([namespace ?? null, ...(tag === undefined ? [] : [tag.key, tag.value])])
}

function keptFor(retention: NonNullable<SuperviseOptions['retention']>): KeptFor {
  refuseUnknownFields('retention', retention, ['endings', 'log'])
  const { endings = defaultKeptFor.endingsMs, log = defaultKeptFor.logMs } = retention
  return { endingsMs: parseDuration('retention.endings', endings), logMs: parseDuration('retention.log', log) }
}

function intervalOf(duty: Duty, given: Duration | undefined): number {
  if (given === undefined) return duty.intervalMs
  const intervalMs = parseDuration(`intervals.${duty.name}`, given)
  if (intervalMs > 0) return intervalMs
  throw new EngineError('invalid_input', `the interval of ${duty.name} is 0; it must be longer than 0 ms`, {
    field: `intervals.${duty.name}`,
  })
}
