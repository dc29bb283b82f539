// Who does a duty: one process of the fleet, once an interval. Its row in `ff_duty` is taken in a statement of its own,
// for a while ahead; no transaction stays open meanwhile, and a process that crashes gives the duty back by time.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from '../clock/after-lock.ts'

const register = statement({
  name: 'duty.register',
  params: { duty: 'text', filter: 'text' },
  row: {},
  text: `
insert into flowfabric.ff_duty (duty, filter)
values ($1, $2)
on conflict do nothing`,
})

// Another may look at the row at the same moment: then there is no answer, and the next look comes soon. What this very
// taker had taken it takes again: its reply was lost, or the connection on which it would have given the duty back.
const take = statement({
  name: 'duty.take',
  params: { duty: 'text', filter: 'text', taken_by: 'text', taken_for_ms: 'int8' },
  row: { now_ms: 'int8', wait_ms: 'int8' },
  text: `
with target as materialized (
  select d.*
  from flowfabric.ff_duty d
  where d.duty = $1 and d.filter = $2
  for no key update skip locked
),
${clockAfter('target')},
looked as materialized (
  select t.*, c.now_ms,
    greatest(t.next_at_ms, case when t.taken_by is distinct from $3 then t.taken_until_ms end) - c.now_ms as wait_ms
  from target t
  cross join clock c
),
taken as (
  update flowfabric.ff_duty d
  set taken_until_ms = k.now_ms + $4, taken_by = $3
  from looked k
  where d.duty = k.duty and d.filter = k.filter and k.wait_ms <= 0
)
select now_ms, wait_ms
from looked`,
})

const giveBack = statement({
  name: 'duty.give-back',
  params: { duty: 'text', filter: 'text', taken_by: 'text', next_in_ms: 'int8', last_report: 'jsonb' },
  row: { finished_at_ms: 'int8' },
  text: `
update flowfabric.ff_duty
set next_at_ms = flowfabric.ff_now_ms() + $4, taken_until_ms = null, taken_by = null,
  last_report = $5::jsonb || jsonb_build_object('finishedAt', flowfabric.ff_now_ms())
where duty = $1 and filter = $2 and taken_by = $3
returning (last_report ->> 'finishedAt')::int8 as finished_at_ms`,
})

const bringForward = statement({
  name: 'duty.bring-forward',
  params: { duty: 'text', filter: 'text', in_ms: 'int8' },
  row: {},
  text: `
update flowfabric.ff_duty
set next_at_ms = flowfabric.ff_now_ms() + $3
where duty = $1 and filter = $2 and next_at_ms > flowfabric.ff_now_ms() + $3`,
})

// Longer than almost any turn takes, and how long the fleet goes without the duty when its taker is killed. What a second
// process does beside a first that takes longer is harmless.
const takenForMs = 10_000

export interface Taker {
  readonly duty: string
  /** Each filter has its own row. */
  readonly filter: string
  readonly takenBy: string
}

export async function registerDuty(sql: Sql, { duty, filter }: Taker): Promise<void> {
  await sql.query(register, { duty, filter })
}

export type Taken = { readonly kind: 'taken'; readonly at: number } | { readonly kind: 'waits'; readonly ms: number }

/** Taken, or how long until it is due, as far as is known. */
export async function takeDuty(sql: Sql, { duty, filter, takenBy }: Taker): Promise<Taken> {
  const [row] = await sql.query(take, { duty, filter, taken_by: takenBy, taken_for_ms: takenForMs })
  if (row === undefined) return { kind: 'waits', ms: 0 }
  return row.wait_ms <= 0 ? { kind: 'taken', at: row.now_ms } : { kind: 'waits', ms: row.wait_ms }
}

/** It is due in so long at the latest, for the whole fleet. */
export async function bringDutyForward(sql: Sql, { duty, filter }: Taker, inMs: number): Promise<void> {
  await sql.query(bringForward, { duty, filter, in_ms: inMs })
}

/** When it was finished, by the database; null when another has taken it meanwhile. */
export async function giveDutyBack(
  sql: Sql,
  { duty, filter, takenBy }: Taker,
  nextInMs: number,
  report: Readonly<Record<string, unknown>>,
): Promise<number | null> {
  const values = { duty, filter, taken_by: takenBy, next_in_ms: nextInMs, last_report: report }
  const [row] = await sql.query(giveBack, values)
  return row?.finished_at_ms ?? null
}
