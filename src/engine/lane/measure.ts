// The counts and rates of lanes, for metrics and dashboards. Bounded in every direction: the number of lanes is
// limited, and counts stop; a scrape never counts a million rows.
import { time } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { namespace } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { StateCount } from '../execution/count.ts'
import { decodeEndings, endingsStatement, settledAfterMs, type LaneEndings } from './measure-endings.ts'

export const measureLanesFields = {
  namespace: namespace.optional(),
  /** Returns endings after this time, by the database's clock: `endedUntil` of the last result. Left out: none. */
  endedAfter: time().optional(),
}

export interface MeasureLanesRequest extends RequestOf<typeof measureLanesFields> {}

export interface LaneMeasure {
  readonly namespace: string
  readonly lane: string
  /** Ready to be claimed. */
  readonly ready: StateCount
  /** When the oldest of these was created, among those that were counted. */
  readonly oldestReadyAt: number | null
  readonly delayed: StateCount
  readonly suspended: StateCount
  /** Leased to a worker. */
  readonly active: StateCount
  /** To be cancelled with their flow or by their siblings, and not yet processed. */
  readonly cancelling: StateCount
}

export interface LaneMeasures {
  readonly now: number
  /** Endings are returned up to this time, a moment before now, when all endings of that time are committed. */
  readonly endedUntil: number
  /** The first 200. */
  readonly lanes: readonly LaneMeasure[]
  readonly endings: readonly LaneEndings[]
}

const stopAt = 10_000

// All lanes share the limit of a state: the more lanes, the earlier each count stops.
const measureStatement = statement({
  name: 'lane.measure',
  params: { namespace: 'text?', stop: 'int8' },
  row: {
    namespace: 'text',
    lane_id: 'text',
    most: 'int8',
    ready_count: 'int8',
    oldest_rank: 'int8?',
    delayed_count: 'int8',
    suspended_count: 'int8',
  },
  text: `
with lane as materialized (
  select namespace, lane_id
  from flowfabric.ff_lane_registry
  where ($1::text is null or namespace = $1)
  order by namespace, lane_id
  limit 200
),
bound as materialized (
  select least($2::int8, 20 * $2::int8 / greatest(count(*), 1)) as most
  from lane
)
select l.namespace, l.lane_id, b.most, ready.count as ready_count, ready.oldest as oldest_rank,
  delayed.count as delayed_count, suspended.count as suspended_count
from lane l
cross join bound b
cross join lateral (
  select count(*) as count, min(r.rank) as oldest
  from (
    select r.rank
    from flowfabric.ff_queue q
    cross join lateral (select r.rank from flowfabric.ff_ready r where r.queue_id = q.queue_id limit b.most) r
    where q.namespace = l.namespace and q.lane_id = l.lane_id
    limit b.most
  ) r
) ready
cross join lateral (
  select count(*) as count
  from (
    select
    from flowfabric.ff_queue q
    cross join lateral (
      select from flowfabric.ff_exec_core e where e.queue_id = q.queue_id and e.delay_until_ms is not null limit b.most
    ) e
    where q.namespace = l.namespace and q.lane_id = l.lane_id
    limit b.most
  ) e
) delayed
cross join lateral (
  select count(*) as count
  from (
    select
    from flowfabric.ff_queue q
    cross join lateral (
      select from flowfabric.ff_exec_core e
      where e.queue_id = q.queue_id and e.parked_state = 'suspended' and e.parked_at_ms is not null
      limit b.most
    ) e
    where q.namespace = l.namespace and q.lane_id = l.lane_id
    limit b.most
  ) e
) suspended`,
})

const underWay = {
  params: { namespace: 'text?', stop: 'int8' },
  row: { namespace: 'text', lane_id: 'text', count: 'int8', is_full: 'bool' },
} as const

const activeStatement = statement({
  name: 'lane.measure-active',
  ...underWay,
  text: `
with looked as materialized (
  select execution_id
  from flowfabric.ff_lease
  where expires_at_ms > 0
  order by expires_at_ms
  limit $2
)
select q.namespace, q.lane_id, count(*) as count, (select count(*) >= $2 from looked) as is_full
from looked k
join flowfabric.ff_exec_core e on e.execution_id = any (array[k.execution_id])
join flowfabric.ff_queue q on q.queue_id = e.queue_id
where ($1::text is null or q.namespace = $1)
group by q.namespace, q.lane_id`,
})

const cancellingStatement = statement({
  name: 'lane.measure-cancelling',
  ...underWay,
  text: `
with looked as materialized (
  select execution_id
  from flowfabric.ff_cancel_backlog
  where created_at_ms > 0
  order by created_at_ms
  limit $2
)
select q.namespace, q.lane_id, count(*) as count, (select count(*) >= $2 from looked) as is_full
from looked k
join flowfabric.ff_exec_core e on e.execution_id = any (array[k.execution_id])
join flowfabric.ff_queue q on q.queue_id = e.queue_id
where ($1::text is null or q.namespace = $1)
group by q.namespace, q.lane_id`,
})

const nowStatement = statement({
  name: 'lane.measure-now',
  params: {},
  row: { now_ms: 'int8' },
  text: `select flowfabric.ff_now_ms() as now_ms`,
})

export async function measureLanes(sql: Sql, caller: Caller, request: MeasureLanesRequest): Promise<LaneMeasures> {
  const { namespace, endedAfter } = checkFields('lanes.measure', measureLanesFields, request)
  const wanted = namespace ?? caller.namespace
  const isForeign = caller.namespace !== null && wanted !== caller.namespace
  const after = endedAfter ?? Number.MAX_SAFE_INTEGER
  const [clock] = await sql.query(nowStatement, {})
  const now = clock!.now_ms
  const endedUntil = now - settledAfterMs
  if (isForeign) return { now, endedUntil, lanes: [], endings: [] }
  const [lanes, active, cancelling, endings] = await sql.pipeline([
    call(measureStatement, { namespace: wanted, stop: stopAt }),
    call(activeStatement, { namespace: wanted, stop: stopAt }),
    call(cancellingStatement, { namespace: wanted, stop: stopAt }),
    call(endingsStatement, { namespace: wanted, after, until: endedUntil, limit: 5 * stopAt }),
  ])
  const [activeIn, cancellingIn] = [byLane(active), byLane(cancelling)]
  return {
    now,
    endedUntil,
    lanes: lanes.map((row) => ({
      namespace: row.namespace,
      lane: row.lane_id,
      ready: countOf(row.ready_count, row.most),
      oldestReadyAt: row.oldest_rank,
      delayed: countOf(row.delayed_count, row.most),
      suspended: countOf(row.suspended_count, row.most),
      active: activeIn(row),
      cancelling: cancellingIn(row),
    })),
    endings: endings.map(decodeEndings),
  }
}

function countOf(count: number, most: number): StateCount {
  return { count, orMore: count >= most }
}

interface OfLane {
  readonly namespace: string
  readonly lane_id: string
}

function byLane(
  rows: readonly (OfLane & { readonly count: number; readonly is_full: boolean })[],
): (lane: OfLane) => StateCount {
  const orMore = rows[0]?.is_full ?? false
  const counts = new Map(rows.map(({ namespace, lane_id, count }) => [`${namespace}\n${lane_id}`, count]))
  return ({ namespace, lane_id }) => ({ count: counts.get(`${namespace}\n${lane_id}`) ?? 0, orMore })
}
