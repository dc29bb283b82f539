// The frame of a sweep: one set at a time, and one bad row does not stop the others. A set that the database refuses for
// its data is halved until the bad row stands alone; that row is set aside with a back-off, which the query for what is
// due leaves out.
import { EngineError, refusal } from '../../model/errors.ts'
import { formatExecutionId } from '../../model/id.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkTagKey, checkTagValue } from '../../model/tag.ts'
import { show } from '../../model/text.ts'
import { sqlState } from '../../sql/errors.ts'
import { silent, type Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement, type Statement, type ValuesOf } from '../../sql/statement.ts'
import { asEngineError } from '../failure.ts'
import { untilSent } from '../resend.ts'
import { sweepParams, type sweepRow } from './candidate.ts'
import type { Duty, Run, RunOptions } from './duty.ts'

type SweepStatement = Statement<typeof sweepParams, typeof sweepRow>
type Scope = Omit<ValuesOf<typeof sweepParams>, 'only'>

const largestBatch = 1000

/** A duty that sweeps executions: `due` is the query for them, `act` the statement that it begins. */
export function sweepingDuty(
  duty: Pick<Duty, 'name' | 'timers' | 'intervalMs'> & { readonly due: string; readonly act: SweepStatement },
): Duty {
  const { due, act, ...rest } = duty
  const look = statement({
    name: `duty.${duty.name}.due`,
    params: sweepParams,
    row: { execution_id: 'uuid' },
    text: `select execution_id from (${due}) due`,
  })
  return {
    ...rest,
    runOnce: async (sql, options = {}) => {
      const scope = scopeOf(options)
      const sweep = new Sweep(sql, duty.name, act, scope, options.logger ?? silent)
      try {
        if (await sweep.act([])) return sweep.run()
        const found = await sql.query(look, { ...scope, only: [] })
        await sweep.halve(found.map((row) => row.execution_id))
      } catch (error) {
        throw asEngineError(error)
      }
      return sweep.run()
    },
  }
}

function scopeOf(options: RunOptions): Scope {
  refuseUnknownFields('runOnce', options, ['filter', 'batch', 'logger'])
  const { filter = {}, batch = largestBatch } = options
  refuseUnknownFields('filter', filter, ['namespace', 'tag'])
  if (!Number.isInteger(batch) || batch < 1 || batch > largestBatch) {
    throw refusal('invalid_input', 'batch', show(batch), `a whole number from 1 to ${largestBatch}`)
  }
  const { namespace, tag } = filter
  if (namespace !== undefined) checkNamespace(namespace)
  return {
    batch,
    namespace: namespace ?? null,
    tag_key: tag === undefined ? null : checkTagKey(tag.key),
    tag_value: tag === undefined ? null : checkTagValue(tag.key, tag.value),
  }
}

/** One run under way: what it has done so far. */
class Sweep {
  readonly #sql: Sql
  readonly #duty: string
  readonly #statement: SweepStatement
  readonly #scope: Scope
  readonly #logger: Logger
  readonly #readyQueueIds = new Set<number>()
  #seen = 0
  #processed = 0
  #errors = 0

  constructor(sql: Sql, duty: string, act: SweepStatement, scope: Scope, logger: Logger) {
    this.#sql = sql
    this.#duty = duty
    this.#statement = act
    this.#scope = scope
    this.#logger = logger
  }

  /** Whether the set went through; false when something in it is bad. */
  async act(only: readonly string[]): Promise<boolean> {
    return (await this.#fault(only)) === null
  }

  async halve(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    const fault = await this.#fault(ids)
    if (fault === null) return
    if (ids.length === 1) return this.#setAside(ids[0]!, fault)
    const middle = Math.ceil(ids.length / 2)
    await this.halve(ids.slice(0, middle))
    await this.halve(ids.slice(middle))
  }

  // When others hold all that is due, the next run would find the same.
  run(): Run {
    const isFull = this.#seen >= this.#scope.batch && this.#processed + this.#errors > 0
    return {
      processed: this.#processed,
      errors: this.#errors,
      isFull,
      readyQueueIds: [...this.#readyQueueIds],
    }
  }

  async #fault(only: readonly string[]): Promise<Error | null> {
    try {
      const [row] = await untilSent(this.#sql, { again: false }, () =>
        this.#sql.query(this.#statement, { ...this.#scope, only }),
      )
      this.#seen += row!.seen
      this.#processed += row!.processed
      for (const id of row!.ready_queue_ids) this.#readyQueueIds.add(id)
      return null
    } catch (error) {
      if (error instanceof Error && isDataFault(error)) return error
      throw error
    }
  }

  async #setAside(id: string, fault: Error): Promise<void> {
    this.#seen++
    this.#errors++
    const values = { duty: this.#duty, subject_id: id, error: fault.message.slice(0, 1000) }
    const [row] = await this.#sql.query(setAside, values)
    if (row === undefined) return
    const execution = formatExecutionId(row.partition_key, id)
    this.#logger.error(
      `${this.#duty} cannot process execution ${execution}, attempt ${row.attempt_index}: ${fault.message}. ` +
        `It is set aside and tried again in ${row.retry_in_ms} ms (failure ${row.failure_count})`,
    )
  }
}

// From ten seconds, doubled with each failure, to an hour. An execution that is gone meanwhile is not set aside.
const setAside = statement({
  name: 'duty.set-aside',
  params: { duty: 'text', subject_id: 'uuid', error: 'text' },
  row: { partition_key: 'int2', attempt_index: 'int4', failure_count: 'int4', retry_in_ms: 'int8' },
  text: `
with subject as materialized (
  select e.execution_id, e.partition_key, e.attempt_index, coalesce(s.failure_count, 0) + 1 as failure_count
  from flowfabric.ff_exec_core e
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
select partition_key, attempt_index, failure_count, retry_in_ms
from delayed`,
})

// Values out of range, constraints, limits of the server, exceptions raised by triggers: faults of some row. A lost
// connection, a missing right or a full disk is a fault of them all.
const dataFaults = ['21', '22', '23', '44', '54', 'P0']

function isDataFault(error: Error): boolean {
  if (EngineError.is(error)) return false
  return dataFaults.includes(sqlState(error)?.slice(0, 2) ?? '')
}
