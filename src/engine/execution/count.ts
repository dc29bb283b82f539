// How many executions are in each state, from the tables that hold them. A dashboard calls this every second, so each
// count stops at 10,000 unless the caller requests the exact number.
import { flag } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { kind, lane, namespace } from '../../model/named-fields.ts'
import { publicStates, type PublicState } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf, type ValuesOf } from '../../sql/statement.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { queueCondition } from './list/source.ts'

export const countFields = {
  namespace: namespace.optional(),
  lane: lane.optional(),
  kind: kind.optional(),
  /** Counts to the end, which may take up to ten minutes. */
  exact: flag().default(false),
}

export interface CountRequest extends RequestOf<typeof countFields> {}

export interface StateCount {
  readonly count: number
  /** The count is this or more. */
  readonly orMore: boolean
}

export type StateCounts = Readonly<Record<PublicState, StateCount>>

const stopAt = 10_000
const never = Number.MAX_SAFE_INTEGER
const exactTimeoutMs = 600_000

// One row for each table with executions of a state; each stops by itself.
const countStatement = statement({
  name: 'execution.count',
  params: { namespace: 'text?', lane: 'text?', kind: 'text?', stop: 'int8' },
  row: { public_state: oneOf<PublicState>(), count: 'int8' },
  text: `
with queue as materialized (
  select q.queue_id
  from flowfabric.ff_queue q
  where ${queueCondition}
)
select 'waiting'::flowfabric.ff_public_state as public_state, count(*) as count
from (
  select from queue
  cross join lateral (
    select from flowfabric.ff_ready r where r.queue_id = queue.queue_id and not r.resumed limit $4
  ) r
  limit $4
) s
union all
select 'resumable', count(*)
from (
  select from queue
  cross join lateral (
    select from flowfabric.ff_ready r where r.queue_id = queue.queue_id and r.resumed limit $4
  ) r
  limit $4
) s
union all
select 'delayed', count(*)
from (
  select from queue
  cross join lateral (
    select from flowfabric.ff_exec_core e where e.queue_id = queue.queue_id and e.delay_until_ms is not null limit $4
  ) e
  limit $4
) s
union all
select 'active', count(*)
from (
  select from flowfabric.ff_lease l
  join flowfabric.ff_exec_core e on e.execution_id = any (array[l.execution_id])
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  -- Every lease has expired or will expire.
  where l.expires_at_ms > 0 and ${queueCondition}
  limit $4
) s
union all
select parked.state, s.count
from unnest('{waiting,waiting_children,rate_limited,suspended}'::flowfabric.ff_public_state[]) as parked (state)
cross join lateral (
  select count(*) as count
  from (
    select from queue
    cross join lateral (
      select from flowfabric.ff_exec_core e
      where e.queue_id = queue.queue_id and e.parked_state = parked.state and e.parked_at_ms is not null
      limit $4
    ) e
    limit $4
  ) one
) s
union all
select ending.public_state, s.count
from (values
  ('success'::flowfabric.ff_terminal_outcome, 'completed'::flowfabric.ff_public_state),
  ('failed', 'failed'), ('cancelled', 'cancelled'), ('expired', 'expired'), ('skipped', 'skipped')
) ending (terminal_outcome, public_state)
cross join lateral (
  select count(*) as count
  from (
    select from queue
    cross join lateral (
      select from flowfabric.ff_exec_core e
      where e.queue_id = queue.queue_id and e.terminal_outcome = ending.terminal_outcome and e.terminal_at_ms is not null
      limit $4
    ) e
    limit $4
  ) one
) s`,
})

export async function countByState(sql: Sql, caller: Caller, request: CountRequest): Promise<StateCounts> {
  const { lane, kind, exact } = checkFields('countByState', countFields, request)
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const rows = isForeign ? [] : await count(sql, exact, { namespace, lane, kind, stop: exact ? never : stopAt })
  const countOf = (state: PublicState): StateCount => {
    const counts = rows.filter((row) => row.public_state === state).map((row) => row.count)
    const count = counts.reduce((sum, one) => sum + one, 0)
    return { count, orMore: !exact && counts.some((one) => one >= stopAt) }
  }
  return Object.fromEntries(publicStates.map((state) => [state, countOf(state)])) as unknown as StateCounts
}

async function count(
  sql: Sql,
  exact: boolean,
  values: ValuesOf<typeof countStatement.params>,
): Promise<RowOf<typeof countStatement.row>[]> {
  if (!exact) return sql.query(countStatement, values)
  const [rows] = await sql.pipeline([call(countStatement, values)], { statementTimeoutMs: exactTimeoutMs })
  return rows
}
