// The supervisor: every duty once an interval over the whole fleet, as long as any process runs one. A duty that fails is
// told to the logger and comes again; it stops neither itself nor the others.
//
// A duty comes earlier when it knows why. After each sweep it asks for the next of its timers. What is written meanwhile
// and due sooner is told by a hint, and moves the duty's next time, which all processes share; a hint that is lost costs
// the rest of the interval.
import { hostname } from 'node:os'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Filter } from '../../model/tag.ts'
import { silent, type Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { allDuties, defaultKeptFor, type KeptFor } from './all.ts'
import type { Duty } from './duty.ts'
import { DutyLoop, type DutyReport, type DutyTurn } from './duty-loop.ts'
import { checkFilter } from './scope.ts'

export interface SuperviseOptions {
  /** By the duty's name; a duty that is not named keeps its own interval. */
  readonly intervals?: Readonly<Record<string, Duration>>
  /** Only executions that match; supervisors with different filters share a database. */
  readonly filter?: Filter
  /** How long an execution is kept after it ended, and an event in the log; 30 days each when left out. */
  readonly retention?: { readonly endings?: Duration; readonly log?: Duration }
  readonly logger?: Logger
  /** Hears of each turn that a duty took in this process; metrics are made of it. */
  readonly onTurn?: (turn: DutyTurn) => void
}

export const superviseOptionNames = [
  'intervals',
  'filter',
  'retention',
  'logger',
  'onTurn',
] as const satisfies readonly (keyof SuperviseOptions)[]

/** What the engine has for it. */
export interface Surroundings {
  /** Hears the queues into which something was put. */
  readonly onReady?: (queueIds: readonly number[]) => void
  /** Hears what endings owe others, as bits of `owed`. */
  readonly onOwed?: (owes: number) => void
  /** Hears the runs that were ended or taken away, by uuid. */
  readonly onCalledOff?: (executionIds: readonly string[]) => void
  /** Tells of timers that go off soon, by their columns; until the answer is called. */
  readonly onDue?: (hear: (column: string, inMs: number) => void) => () => void
  readonly duties?: readonly Duty[]
}

export class Supervisor {
  readonly #loops: readonly DutyLoop[]
  readonly #surroundings: Surroundings
  #stopHearing: () => void = () => {}

  constructor(sql: Sql, options: SuperviseOptions = {}, surroundings: Surroundings = {}) {
    refuseUnknownFields('supervise', options, superviseOptionNames)
    const { intervals = {}, filter = {}, retention = {}, logger = silent, onTurn = () => {} } = options
    checkFilter(filter)
    const { duties = allDuties(sql.kind, keptFor(retention)) } = surroundings
    const { onReady = () => {}, onOwed = () => {}, onCalledOff = () => {} } = surroundings
    const names = duties.map((duty) => duty.name)
    refuseUnknownFields('intervals', intervals, names)
    this.#surroundings = surroundings
    this.#loops = duties.map((duty) => {
      const intervalMs = intervalOf(duty, intervals[duty.name])
      const told = { onReady, onOwed, onCalledOff, onTurn }
      return new DutyLoop({ sql, duty: { ...duty, intervalMs }, filter, logger, processName, ...told })
    })
  }

  /** The last report of each duty that this process has done. */
  get reports(): ReadonlyMap<string, DutyReport> {
    return new Map(this.#loops.flatMap(({ name, report }) => (report === null ? [] : [[name, report]])))
  }

  /** Does nothing while it runs. */
  start(): void {
    this.#stopHearing()
    const stop = this.#surroundings.onDue?.((column, inMs) => {
      for (const loop of this.#loops) if (loop.watches(column)) loop.isDueIn(inMs)
    })
    this.#stopHearing = stop ?? (() => {})
    for (const loop of this.#loops) loop.start()
  }

  /** Resolves when the sets under way are done. May be called at any time, and more than once. */
  async stop(): Promise<void> {
    this.#stopHearing()
    await Promise.all(this.#loops.map((loop) => loop.stop()))
  }
}

const processName = `${hostname()}:${process.pid}`

function keptFor(retention: NonNullable<SuperviseOptions['retention']>): KeptFor {
  refuseUnknownFields('retention', retention, ['endings', 'log'])
  const { endings = defaultKeptFor.endingsMs, log = defaultKeptFor.logMs } = retention
  return { endingsMs: parseDuration('retention.endings', endings), logMs: parseDuration('retention.log', log) }
}

function intervalOf(duty: Duty, given: Duration | undefined): number {
  if (given === undefined) return duty.intervalMs
  const intervalMs = parseDuration(`intervals.${duty.name}`, given)
  if (intervalMs > 0) return intervalMs
  throw new EngineError('invalid_input', `the interval of ${duty.name} is 0; it must be longer than nothing`, {
    field: `intervals.${duty.name}`,
  })
}
