// One run of a duty. It reads the ids of the due rows, and acts on them as one set. One bad row does not stop the others: a set that
// the database refuses for its data is halved until the bad row is alone. That row is quarantined in `ff_set_aside` with a back-off,
// and the query for due rows excludes it.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId } from '../../model/id.ts'
import { sqlState } from '../../sql/errors.ts'
import { silent, type Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { ReadDue } from './due.ts'
import type { Run, RunOptions } from './duty.ts'
import { mergeEffects, noEffects, type Effects } from './effects.ts'
import { asEngineError } from './failure.ts'
import { untilSent } from './resend.ts'
import { scopeOf, type DutyScope } from './scope.ts'

/** The parts of a duty that acts on sets of rows. */
export interface DutyParts {
  readonly name: string
  readonly due: ReadDue
  /** Locks these rows, without waiting, and processes those that are still due. */
  readonly act: (sql: Sql, ids: readonly string[], scope: DutyScope) => Promise<DutySet>
  /** The most rows of a set. */
  readonly largestBatch?: number
  /** For a duty on other rows than executions. Null when the row no longer exists. */
  readonly quarantine?: (sql: Sql, id: string, error: string) => Promise<Quarantined | null>
}

/** The result of one set of a duty. */
export interface DutySet {
  /** How many rows were due; fewer are processed when another process has locked some. */
  readonly seen: number
  readonly processed: number
  readonly effects: Effects
}

export const emptyDutySet: DutySet = { seen: 0, processed: 0, effects: noEffects }

export interface Quarantined {
  /** As the log names it. */
  readonly subject: string
  readonly retryInMs: number
  readonly failureCount: number
}

/** A row that this process cannot process, although the database accepts it. */
export class RowFault extends Error {}

/** Decides about rows that were read. A decision fails only because of a row, for example one that was damaged by hand. */
export function decideRows<Decision>(decide: () => Decision): Decision {
  try {
    return decide()
  } catch (cause) {
    if (cause instanceof RowFault) throw cause
    throw new RowFault(`it cannot be decided: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

export async function runDuty(sql: Sql, parts: DutyParts, options: RunOptions = {}): Promise<Run> {
  const scope = scopeOf(options)
  const batch = Math.min(scope.batch, parts.largestBatch ?? Infinity)
  const run = new DutyRun(sql, parts, { ...scope, batch }, options.logger ?? silent)
  try {
    await run.go()
  } catch (error) {
    throw asEngineError(error)
  }
  return run.report()
}

/** One run, and what it has done so far. */
class DutyRun {
  readonly #sql: Sql
  readonly #parts: DutyParts
  readonly #scope: DutyScope
  readonly #logger: Logger
  #seen = 0
  #processed = 0
  #errors = 0
  #effects = noEffects

  constructor(sql: Sql, parts: DutyParts, scope: DutyScope, logger: Logger) {
    this.#sql = sql
    this.#parts = parts
    this.#scope = scope
    this.#logger = logger
  }

  async go(): Promise<void> {
    await this.#processHalving(await this.#send(() => this.#parts.due(this.#sql, this.#scope)))
  }

  // When other processes have locked all due rows, the next run would find the same ones.
  report(): Run {
    const isFull = this.#seen >= this.#scope.batch && this.#processed + this.#errors > 0
    return { processed: this.#processed, errors: this.#errors, isFull, effects: this.#effects }
  }

  async #processHalving(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const fault = await this.#process(ids)
    if (fault === null) return
    if (ids.length === 1) return this.#quarantine(ids[0]!, fault)
    const middle = Math.ceil(ids.length / 2)
    await this.#processHalving(ids.slice(0, middle))
    await this.#processHalving(ids.slice(middle))
  }

  /** The fault, when the set was refused for its data. */
  async #process(ids: readonly string[]): Promise<Error | null> {
    try {
      const set = await this.#send(() => this.#parts.act(this.#sql, ids, this.#scope))
      this.#seen += set.seen
      this.#processed += set.processed
      this.#effects = mergeEffects(this.#effects, set.effects)
      return null
    } catch (error) {
      if (error instanceof Error && isDataFault(error)) return error
      throw error
    }
  }

  #send<T>(send: () => Promise<T>): Promise<T> {
    return untilSent(this.#sql, { again: false }, send)
  }

  async #quarantine(id: string, fault: Error): Promise<void> {
    this.#seen++
    this.#errors++
    const error = fault.message.slice(0, 1000)
    const quarantined = await (this.#parts.quarantine?.(this.#sql, id, error) ?? this.#quarantineExecution(id, error))
    if (quarantined === null) return
    const { subject, retryInMs, failureCount } = quarantined
    this.#logger.error(
      `duty ${this.#parts.name} cannot process ${subject}: ${fault.message}. ` +
        `The row is quarantined and retried in ${retryInMs} ms (failure ${failureCount})`,
    )
  }

  async #quarantineExecution(id: string, error: string): Promise<Quarantined | null> {
    const [row] = await this.#sql.query(quarantine, { duty: this.#parts.name, subject_id: id, error })
    if (row === undefined) return null
    const execution = `execution ${formatExecutionId(row.partition_key, id)}, attempt ${row.attempt_index}`
    const subject = row.timeout === null ? execution : `${execution}, timeout behaviour ${row.timeout}`
    return { subject, retryInMs: row.retry_in_ms, failureCount: row.failure_count }
  }
}

// From ten seconds, doubled with each failure, to an hour. An execution that no longer exists is not quarantined. The answer
// has the timeout behaviour of its suspension, if there is one.
const quarantine = statement({
  name: 'duty.set-aside',
  params: { duty: 'text', subject_id: 'uuid', error: 'text' },
  row: { partition_key: 'int2', attempt_index: 'int4', timeout: 'text?', failure_count: 'int4', retry_in_ms: 'int8' },
  text: `
with subject as materialized (
  select e.execution_id, e.partition_key, e.attempt_index, coalesce(s.failure_count, 0) + 1 as failure_count,
    case when u.timeout_at_ms is null then null when u.escalated_at_ms is null then u.timeout_behavior
      else u.second_behavior end::text as timeout
  from flowfabric.ff_exec_core e
  left join flowfabric.ff_suspension_current u on u.execution_id = any (array[e.execution_id])
  left join flowfabric.ff_set_aside s on s.duty = $1 and s.subject_id = e.execution_id
  where e.execution_id = $2
),
delayed as materialized (
  select j.*, least(3600000, 10000 * power(2, least(j.failure_count - 1, 20)))::int8 as retry_in_ms
  from subject j
),
written as (
  insert into flowfabric.ff_set_aside (duty, subject_id, failure_count, retry_at_ms, error)
  select $1, execution_id, failure_count, flowfabric.ff_now_ms() + retry_in_ms, $3
  from delayed
  on conflict (duty, subject_id) do update
  set failure_count = excluded.failure_count, retry_at_ms = excluded.retry_at_ms, error = excluded.error
)
select partition_key, attempt_index, timeout, failure_count, retry_in_ms
from delayed`,
})

// Values out of range, constraints, limits of the server, exceptions raised by triggers: faults of some row. A lost
// connection, a missing right or a full disk is a fault of them all.
const dataFaults = ['21', '22', '23', '44', '54', 'P0']

function isDataFault(error: Error): boolean {
  if (error instanceof RowFault) return true
  if (EngineError.is(error)) return false
  return dataFaults.includes(sqlState(error)?.slice(0, 2) ?? '')
}
