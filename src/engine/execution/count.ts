// How many executions are in each state, from the tables that hold them. A dashboard asks this every second, so each
// count stops at 10,000 unless the exact number is asked for.
import { checkKind, checkLane, checkNamespace } from '../../model/name.ts'
import { publicStates, type PublicState } from '../../model/state.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import { queueCondition } from './list/source.ts'

export interface CountRequest {
  readonly namespace?: string
  readonly lane?: string
  readonly kind?: string
  /** Count to the end, however long it takes. */
  readonly exact?: boolean
}

export interface StateCount {
  readonly count: number
  /** There are this many or more. */
  readonly orMore: boolean
}

export type StateCounts = Readonly<Record<PublicState, StateCount>>

const stopAt = 10_000
const never = Number.MAX_SAFE_INTEGER

// Where a state's executions are counted. States that share a source share its stop: when it stopped, none is complete.
const sourcesOf: Readonly<Record<PublicState, readonly Source[]>> = {
  waiting: ['ready', 'parked'],
  resumable: ['ready'],
  delayed: ['delayed'],
  suspended: ['parked'],
  waiting_children: ['parked'],
  rate_limited: ['parked'],
  active: ['leased'],
  completed: ['completed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  expired: ['expired'],
  skipped: ['skipped'],
}
type Source = 'ready' | 'delayed' | 'parked' | 'leased' | 'completed' | 'failed' | 'cancelled' | 'expired' | 'skipped'

const countStatement = statement({
  name: 'execution.count',
  params: { namespace: 'text?', lane: 'text?', kind: 'text?', stop: 'int8' },
  row: { source: oneOf<Source>(), public_state: oneOf<PublicState>(), count: 'int8' },
  text: `
with queue as materialized (
  select q.queue_id
  from flowfabric.ff_queue q
  where ${queueCondition}
)
select 'ready' as source, s.public_state, count(*) as count
from (
  select e.public_state
  from queue
  cross join lateral (
    select r.execution_id from flowfabric.ff_ready r where r.queue_id = queue.queue_id limit $4
  ) r
  join flowfabric.ff_exec_core e on e.execution_id = r.execution_id
  limit $4
) s
group by s.public_state
union all
select 'delayed', 'delayed', count(*)
from (
  select from flowfabric.ff_exec_core e
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where e.delay_until_ms is not null and ${queueCondition}
  limit $4
) s
union all
select 'parked', s.public_state, count(*)
from (
  select e.public_state from flowfabric.ff_exec_core e
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where e.parked_at_ms is not null and ${queueCondition}
  limit $4
) s
group by s.public_state
union all
select 'leased', 'active', count(*)
from (
  select from flowfabric.ff_lease l
  join flowfabric.ff_exec_core e on e.execution_id = l.execution_id
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where ${queueCondition}
  limit $4
) s
union all
select ending.public_state::text, ending.public_state, s.count
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
  const { namespace, lane, kind, exact = false } = request
  if (namespace !== undefined) checkNamespace(namespace)
  const isForeign = caller.namespace !== null && namespace !== undefined && namespace !== caller.namespace
  const rows = isForeign
    ? []
    : await sql.query(countStatement, {
        namespace: caller.namespace ?? namespace ?? null,
        lane: lane === undefined ? null : checkLane(lane),
        kind: kind === undefined ? null : checkKind(kind),
        stop: exact ? never : stopAt,
      })
  const counts = new Map<PublicState, number>()
  const counted = new Map<Source, number>()
  for (const { source, public_state, count } of rows) {
    counts.set(public_state, (counts.get(public_state) ?? 0) + count)
    counted.set(source, (counted.get(source) ?? 0) + count)
  }
  const stopped = (source: Source): boolean => !exact && (counted.get(source) ?? 0) >= stopAt
  return Object.fromEntries(
    publicStates.map((state) => [state, { count: counts.get(state) ?? 0, orMore: sourcesOf[state].some(stopped) }]),
  ) as unknown as StateCounts
}
