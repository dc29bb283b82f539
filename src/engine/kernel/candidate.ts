// The pieces that the sweeps' statements share. A sweep takes what its timer's index shows as due, in that order; locks
// it, passing over what others hold; looks again under the lock, with the clock read after it; and acts.
//
// A statement sees the lease and the ready row of an execution as they were when it began, and the execution itself as it
// is once locked. So a row that changed in between is passed over, by its `xmin`: acting on it would leave behind a lease
// or a ready row that this statement cannot see. The next sweep meets it again.
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from './after-lock.ts'
import { pendingDispatchOfEnded } from './pending-dispatch.ts'
import { hasTag, scopeParams } from './scope.ts'

export const dutyParams = {
  ...scopeParams,
  /** These and no others; empty: what is due. */
  only: 'uuid[]',
} as const

export const dutyRow = {
  seen: 'int8',
  processed: 'int8',
  ready_queue_ids: 'int4[]',
  /** What its endings leave for others to do. */
  owes: 'int4',
  /** Those that were running: their holders are to look at their leases. */
  called_off_ids: 'uuid[]',
} as const

/** The conditions on `ff_exec_core e` in the query for what is due, which ends with `limit $1`. */
export function inScope(duty: string): string {
  return `cardinality($5::uuid[]) = 0
  and ($2::text is null or e.namespace = $2)
  and ${hasTag('e.execution_id')}
  and not exists (
    select from flowfabric.ff_set_aside s
    where s.duty = '${duty}' and s.subject_id = any (array[e.execution_id]) and s.retry_at_ms > flowfabric.ff_now_ms())`
}

/** Gives `candidate` from the query for what is due, which selects `execution_id` and `xmin as seen_xmin`. */
export function candidates(due: string): string {
  return `candidate as materialized (
  (${due})
  union all
  select e.execution_id, e.xmin
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[o.execution_id])
)`
}

/** Follows `candidate`. Gives `looked`: the columns of `ff_exec_core`, locked in the order of ids, and `now_ms`. */
export const lockedExecutions = `
target as materialized (
  select e.*
  from candidate c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  order by c.execution_id
  for no key update of e skip locked
),
${clockAfter('target')},
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
)`

// A row whose next try is long overdue is no longer due for this duty: it ended, or was changed, in another way.
const forgottenAfterMs = 3_600_000

/** What went through is no longer set aside. */
export function takenUp(duty: string, acted: string): string {
  return `taken_up as (
  delete from flowfabric.ff_set_aside s
  where s.duty = '${duty}'
    and (s.subject_id in (select execution_id from ${acted})
      or s.retry_at_ms < flowfabric.ff_now_ms() - ${forgottenAfterMs})
)`
}

const forgetSetAside = statement({
  name: 'duty.taken-up',
  params: { duty: 'text', execution_ids: 'uuid[]' },
  row: {},
  text: `
delete from flowfabric.ff_set_aside s
where s.duty = $1
  and (s.subject_id = any ($2) or s.retry_at_ms < flowfabric.ff_now_ms() - ${forgottenAfterMs})`,
})

/** The same for a sweep that is not one statement. */
export function takenUpCall(duty: string, uuids: readonly string[]) {
  return call(forgetSetAside, { duty, execution_ids: uuids })
}

/** Of a CTE with executions as they were found. */
export function calledOffAmong(acted: string): string {
  return `array(select execution_id from ${acted} where ownership_state = 'leased')`
}

/** The end of a sweep; `readied` is a CTE with the queues of what became ready, or none. */
export function dutyAnswer(acted: string, readied?: string): string {
  return sweptOwing(acted, readied, '0', `'{}'::uuid[]`)
}

/** The same after the terminal routine. */
export function dutyAnswerOfEndings(acted: string, readied?: string): string {
  return sweptOwing(acted, readied, pendingDispatchOfEnded, calledOffAmong(acted))
}

function sweptOwing(acted: string, readied: string | undefined, owes: string, calledOff: string): string {
  const queues = readied === undefined ? 'null' : `(select array_agg(distinct queue_id) from ${readied})`
  return `
select (select count(*) from candidate) as seen,
  (select count(*) from ${acted}) as processed,
  coalesce(${queues}, '{}'::int4[]) as ready_queue_ids,
  ${owes} as owes, ${calledOff} as called_off_ids`
}
