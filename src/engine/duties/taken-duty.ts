// A duty that this process has taken: its row in `ff_duty` is kept between the sets of a long run, and given back with the
// time of the next run. No transaction stays open meanwhile. A process that crashes gives the duty back by time.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { termMs } from './poll-duties.ts'

export interface DutyTaker {
  readonly duty: string
  /** Each filter has its own row. */
  readonly filter: string
  readonly takenBy: string
}

const extend = statement({
  name: 'duty.extend',
  params: { duty: 'text', filter: 'text', taken_by: 'text', term_ms: 'int8' },
  row: { is_asynchronous: 'bool' },
  text: `
update flowfabric.ff_duty
set taken_until_ms = flowfabric.ff_now_ms() + $4
where duty = $1 and filter = $2 and taken_by = $3
returning set_config('synchronous_commit', 'off', true) is not null as is_asynchronous`,
})

const giveBack = statement({
  name: 'duty.give-back',
  params: {
    duty: 'text',
    filter: 'text',
    taken_by: 'text',
    next_in_ms: 'int8',
    run_at_ms: 'int8',
    last_report: 'jsonb',
  },
  row: { finished_at_ms: 'int8', is_asynchronous: 'bool' },
  text: `
update flowfabric.ff_duty
set next_at_ms = flowfabric.ff_now_ms() + $4, taken_until_ms = null, taken_by = null, last_run_at_ms = $5,
  last_report = $6::jsonb || jsonb_build_object('finishedAt', flowfabric.ff_now_ms())
where duty = $1 and filter = $2 and taken_by = $3
returning (last_report ->> 'finishedAt')::int8 as finished_at_ms,
  set_config('synchronous_commit', 'off', true) is not null as is_asynchronous`,
})

const leave = statement({
  name: 'duty.leave',
  params: { duty: 'text', filter: 'text', taken_by: 'text' },
  row: {},
  text: `
update flowfabric.ff_duty
set taken_until_ms = null, taken_by = null
where duty = $1 and filter = $2 and taken_by = $3`,
})

/** For another term. */
export async function extendDuty(sql: Sql, { duty, filter, takenBy }: DutyTaker): Promise<void> {
  await sql.query(extend, { duty, filter, taken_by: takenBy, term_ms: termMs })
}

/** `runAt` is when the run began. Returns when it was finished, by the database; null when another process has taken it. */
export async function giveDutyBack(
  sql: Sql,
  { duty, filter, takenBy }: DutyTaker,
  runAt: number,
  nextInMs: number,
  report: Readonly<Record<string, unknown>>,
): Promise<number | null> {
  const values = { duty, filter, taken_by: takenBy, next_in_ms: nextInMs, run_at_ms: runAt, last_report: report }
  const [row] = await sql.query(giveBack, values)
  return row?.finished_at_ms ?? null
}

/** The row is free at once: nothing was done for it. */
export async function leaveDuty(sql: Sql, { duty, filter, takenBy }: DutyTaker): Promise<void> {
  await sql.query(leave, { duty, filter, taken_by: takenBy })
}
