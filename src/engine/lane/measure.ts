// What a lane holds and how fast it goes, for metrics and dashboards. Bounded in every direction: so many lanes, and counts that
// stop; a scrape never counts a million rows.
import { refusal } from '../../model/errors.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { TerminalOutcome } from '../../model/state.ts'
import { show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import { call } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import type { StateCount } from '../execution/count.ts'

export interface MeasureLanesRequest {
  readonly namespace?: string
  /** Tells of endings after this time, by the database's clock; left out: of none. */
  readonly endedAfter?: number
}

export interface LaneMeasure {
  readonly namespace: string
  readonly lane: string
  /** Ready to be claimed. */
  readonly ready: StateCount
  /** When the oldest of these was created, as far as was counted. */
  readonly oldestReadyAt: number | null
  readonly delayed: StateCount
  readonly suspended: StateCount
}

export interface MeasuredEnding {
  readonly namespace: string
  readonly lane: string
  readonly outcome: Exclude<TerminalOutcome, 'none'>
  /** From its creation to its first start; null when it never started. */
  readonly waitMs: number | null
  /** From its first start to its end. */
  readonly runMs: number | null
}

export interface LaneMeasures {
  readonly now: number
  /** The first 200. */
  readonly lanes: readonly LaneMeasure[]
  /** At most 2,000: a sample when there are more. */
  readonly endings: readonly MeasuredEnding[]
}

const stopAt = 10_000
const mostEndings = 2000

const ofLane = `
    from flowfabric.ff_queue q
    cross join lateral`

const measureStatement = statement({
  name: 'lane.measure',
  params: { namespace: 'text?', stop: 'int8' },
  row: {
    namespace: 'text',
    lane_id: 'text',
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
)
select l.namespace, l.lane_id, ready.count as ready_count, ready.oldest as oldest_rank, delayed.count as delayed_count,
  suspended.count as suspended_count
from lane l
cross join lateral (
  select count(*) as count, min(r.rank) as oldest
  from (
    select r.rank${ofLane} (select r.rank from flowfabric.ff_ready r where r.queue_id = q.queue_id limit $2) r
    where q.namespace = l.namespace and q.lane_id = l.lane_id
    limit $2
  ) r
) ready
cross join lateral (
  select count(*) as count
  from (
    select${ofLane} (
      select from flowfabric.ff_exec_core e where e.queue_id = q.queue_id and e.delay_until_ms is not null limit $2
    ) e
    where q.namespace = l.namespace and q.lane_id = l.lane_id
    limit $2
  ) e
) delayed
cross join lateral (
  select count(*) as count
  from (
    select${ofLane} (
      select from flowfabric.ff_exec_core e
      where e.queue_id = q.queue_id and e.parked_state = 'suspended' and e.parked_at_ms is not null
      limit $2
    ) e
    where q.namespace = l.namespace and q.lane_id = l.lane_id
    limit $2
  ) e
) suspended`,
})

const endingStatement = statement({
  name: 'lane.measure-endings',
  params: { namespace: 'text?', after: 'int8', limit: 'int8' },
  row: {
    namespace: 'text',
    lane_id: 'text',
    terminal_outcome: oneOf<MeasuredEnding['outcome']>(),
    created_at_ms: 'int8',
    started_at_ms: 'int8?',
    terminal_at_ms: 'int8',
  },
  text: `
select q.namespace, q.lane_id, e.terminal_outcome, e.created_at_ms, e.started_at_ms, e.terminal_at_ms
from flowfabric.ff_queue q
cross join unnest('{success,failed,cancelled,expired,skipped}'::flowfabric.ff_terminal_outcome[]) as o (outcome)
cross join lateral (
  select e.terminal_outcome, e.created_at_ms, e.started_at_ms, e.terminal_at_ms
  from flowfabric.ff_exec_core e
  where e.queue_id = q.queue_id and e.terminal_outcome = o.outcome and e.terminal_at_ms is not null and e.terminal_at_ms > $2
  order by e.terminal_at_ms
  limit $3
) e
where ($1::text is null or q.namespace = $1)
limit $3`,
})

const nowStatement = statement({
  name: 'lane.measure-now',
  params: {},
  row: { now_ms: 'int8' },
  text: `select flowfabric.ff_now_ms() as now_ms`,
})

export async function measureLanes(sql: Sql, caller: Caller, request: MeasureLanesRequest): Promise<LaneMeasures> {
  refuseUnknownFields('lanes.measure', request, ['namespace', 'endedAfter'])
  const { namespace, endedAfter } = request
  const wanted = namespace === undefined ? caller.namespace : checkNamespace(namespace)
  const isForeign = caller.namespace !== null && wanted !== caller.namespace
  const after = endedAfter === undefined ? Number.MAX_SAFE_INTEGER : checkTime(endedAfter)
  // The clock is read first, so that what ends meanwhile is told of by this answer or by the next.
  const [[clock], lanes, endings] = await sql.pipeline([
    call(nowStatement, {}),
    call(measureStatement, { namespace: wanted, stop: stopAt }),
    call(endingStatement, { namespace: wanted, after, limit: mostEndings }),
  ])
  if (isForeign) return { now: clock!.now_ms, lanes: [], endings: [] }
  return {
    now: clock!.now_ms,
    lanes: lanes.map((row) => ({
      namespace: row.namespace,
      lane: row.lane_id,
      ready: countOf(row.ready_count),
      oldestReadyAt: row.oldest_rank,
      delayed: countOf(row.delayed_count),
      suspended: countOf(row.suspended_count),
    })),
    endings: endings.map((row) => ({
      namespace: row.namespace,
      lane: row.lane_id,
      outcome: row.terminal_outcome,
      waitMs: row.started_at_ms === null ? null : row.started_at_ms - row.created_at_ms,
      runMs: row.started_at_ms === null ? null : row.terminal_at_ms - row.started_at_ms,
    })),
  }
}

function countOf(count: number): StateCount {
  return { count, orMore: count >= stopAt }
}

function checkTime(at: unknown): number {
  if (Number.isSafeInteger(at) && (at as number) >= 0) return at as number
  throw refusal('invalid_input', 'endedAfter', show(at), 'a time in milliseconds since 1970')
}
