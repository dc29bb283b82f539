// The endings in a span of time, by lane and outcome: how many, after how many retries, how long they had waited and
// run. Counted in the database, so that a busy lane is a few numbers.
import { spanBoundsMs } from '../../model/span.ts'
import type { TerminalOutcome } from '../../model/state.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'

export interface LaneEndings {
  readonly namespace: string
  readonly lane: string
  readonly outcome: Exclude<TerminalOutcome, 'none'>
  /** At most 50,000 for each task of the lane. */
  readonly count: number
  /** Attempts of these that were followed by another. */
  readonly retryCount: number
  /** Of these, members that were cancelled because their siblings were enough, or could no longer be enough. */
  readonly quorumSatisfiedCount: number
  readonly quorumImpossibleCount: number
  /** From creation to the first start, of those that started. */
  readonly wait: Spans
  /** From the first start to the end. */
  readonly run: Spans
}

/** Durations. */
export interface Spans {
  readonly totalMs: number
  readonly count: number
  /** How many took at most 10, 50, 100, 500 ms, 1, 5, 10 s, 1, 10 min, 1 h, 1 d. */
  readonly atMost: readonly number[]
}

/** A transaction that takes longer than this writes an ending that is not counted. */
export const settledAfterMs = 2000

const atMost = (span: string): string =>
  `array[${spanBoundsMs.map((ms) => `count(*) filter (where ${span} <= ${ms})`).join(', ')}]`

const waitMs = 'e.started_at_ms - e.created_at_ms'
const runMs = 'e.terminal_at_ms - e.started_at_ms'

// The newest queues, when there are too many.
export const endingsStatement = statement({
  name: 'lane.measure-endings',
  params: { namespace: 'text?', after: 'int8', until: 'int8', limit: 'int8' },
  row: {
    namespace: 'text',
    lane_id: 'text',
    terminal_outcome: oneOf<LaneEndings['outcome']>(),
    count: 'int8',
    retry_count: 'int8',
    satisfied_count: 'int8',
    impossible_count: 'int8',
    started_count: 'int8',
    wait_ms: 'int8',
    wait_at_most: 'int8[]',
    run_ms: 'int8',
    run_at_most: 'int8[]',
  },
  text: `
with queue as materialized (
  select queue_id, namespace, lane_id
  from flowfabric.ff_queue
  where ($1::text is null or namespace = $1)
  order by queue_id desc
  limit 2000
),
newly as materialized (
  select q.namespace, q.lane_id, e.*
  from queue q
  cross join unnest('{success,failed,cancelled,expired,skipped}'::flowfabric.ff_terminal_outcome[]) as o (outcome)
  cross join lateral (
    select e.terminal_outcome, e.created_at_ms, e.started_at_ms, e.terminal_at_ms, e.retry_count, e.cancellation_reason
    from flowfabric.ff_exec_core e
    where e.queue_id = q.queue_id and e.terminal_outcome = o.outcome and e.terminal_at_ms is not null
      and e.terminal_at_ms > $2 and e.terminal_at_ms <= $3
    order by e.terminal_at_ms
    limit $4
  ) e
  limit 10 * $4::int8
)
select e.namespace, e.lane_id, e.terminal_outcome, count(*) as count, sum(e.retry_count)::int8 as retry_count,
  count(*) filter (where e.cancellation_reason = 'sibling_quorum_satisfied') as satisfied_count,
  count(*) filter (where e.cancellation_reason = 'sibling_quorum_impossible') as impossible_count,
  count(e.started_at_ms) as started_count,
  coalesce(sum(${waitMs}), 0)::int8 as wait_ms,
  ${atMost(waitMs)} as wait_at_most,
  coalesce(sum(${runMs}), 0)::int8 as run_ms,
  ${atMost(runMs)} as run_at_most
from newly e
group by e.namespace, e.lane_id, e.terminal_outcome`,
})

export function decodeEndings(row: RowOf<typeof endingsStatement.row>): LaneEndings {
  return {
    namespace: row.namespace,
    lane: row.lane_id,
    outcome: row.terminal_outcome,
    count: row.count,
    retryCount: row.retry_count,
    quorumSatisfiedCount: row.satisfied_count,
    quorumImpossibleCount: row.impossible_count,
    wait: { totalMs: row.wait_ms, count: row.started_count, atMost: row.wait_at_most },
    run: { totalMs: row.run_ms, count: row.started_count, atMost: row.run_at_most },
  }
}
