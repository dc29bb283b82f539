// The query with which a duty begins: the ids of the rows that are due, without locks. The most common result is none, and then it is
// the only statement of the run.
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { hasTag, scopeParams, type DutyScope } from './scope.ts'

/** Reads the ids of due rows, the earliest first. */
export type ReadDue = (sql: Sql, scope: DutyScope) => Promise<readonly string[]>

/** The conditions on `ff_exec_core e` in a query for due executions: namespace, tag, and not in quarantine. */
export function inDutyScope(duty: string): string {
  return `($2::text is null or e.namespace = $2)
  and ${hasTag('e.execution_id')}
  and ${notQuarantined(duty, 'e.execution_id')}`
}

export function notQuarantined(duty: string, id: string): string {
  return `not exists (
    select from flowfabric.ff_set_aside a
    where a.duty = '${duty}' and a.subject_id = any (array[${id}]) and a.retry_at_ms > flowfabric.ff_now_ms())`
}

// A quarantined row whose next try is long overdue is no longer due for this duty: another operation ended or changed it.
const forgottenAfterMs = 3_600_000

/** The begin of a query for due rows. */
export function withForgotten(duty: string): string {
  return `
with forgotten as (
  delete from flowfabric.ff_set_aside s
  where s.duty = '${duty}' and s.retry_at_ms < flowfabric.ff_now_ms() - ${forgottenAfterMs}
)`
}

/** `query` selects `id`; its parameters are `scopeParams`. */
export function dueRows(duty: string, query: string): ReadDue {
  const due = statement({
    name: `duty.${duty}.due`,
    params: scopeParams,
    row: { id: 'uuid' },
    text: `${withForgotten(duty)}${query}`,
  })
  return async (sql, scope) => (await sql.query(due, scope)).map((row) => row.id)
}

/** A timer column whose time has passed. */
export interface Timer {
  /** As `table.column`. */
  readonly column: string
  /** `<`: the timer is due from the next millisecond on. */
  readonly passes: '<' | '<='
  /** The predicate of the column's index, where it has one that every row satisfies; on `t`. */
  readonly where?: string
}

/** The executions whose timer has passed. */
export function dueExecutions(duty: string, { column: timer, passes, where }: Timer): ReadDue {
  const [table, column] = timer.split('.')
  const join =
    table === 'ff_exec_core'
      ? ''
      : `
join flowfabric.ff_exec_core e on e.execution_id = any (array[t.execution_id])`
  const t = join === '' ? 'e' : 't'
  return dueRows(
    duty,
    `
select e.execution_id as id
from flowfabric.${table} ${t}${join}
where ${where === undefined ? '' : `${where} and `}${t}.${column} ${passes} flowfabric.ff_now_ms()
  and ${inDutyScope(duty)}
order by ${t}.${column}, ${t}.execution_id
limit $1`,
  )
}

const release = statement({
  name: 'duty.release',
  params: { duty: 'text', ids: 'uuid[]' },
  row: {},
  text: `
delete from flowfabric.ff_set_aside s
where s.duty = $1 and s.subject_id = any ($2)`,
})

/** Removes rows that were processed from quarantine. */
export function releaseCall(duty: string, ids: readonly string[]) {
  return call(release, { duty, ids })
}
