-- Made by `npm run sql`; do not edit.
-- lane.measure-endings
-- src/engine/lane/measure-endings.ts: endingsStatement
-- 44 lines, 2 CTEs
--
-- parameters:
--   $1 namespace text or null
--   $2 after int8
--   $3 until int8
--   $4 limit int8
-- columns:
--   namespace text
--   lane_id text
--   terminal_outcome text
--   count int8
--   retry_count int8
--   satisfied_count int8
--   impossible_count int8
--   started_count int8
--   wait_ms int8
--   wait_at_most int8[]
--   run_ms int8
--   run_at_most int8[]

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
  coalesce(sum(e.started_at_ms - e.created_at_ms), 0)::int8 as wait_ms,
  array[count(*) filter (where e.started_at_ms - e.created_at_ms <= 10), count(*) filter (where e.started_at_ms - e.created_at_ms <= 50),
    count(*) filter (where e.started_at_ms - e.created_at_ms <= 100), count(*) filter (where e.started_at_ms - e.created_at_ms <= 500),
    count(*) filter (where e.started_at_ms - e.created_at_ms <= 1000), count(*) filter (where e.started_at_ms - e.created_at_ms <= 5000),
    count(*) filter (where e.started_at_ms - e.created_at_ms <= 10000), count(*) filter (where e.started_at_ms - e.created_at_ms <= 60000),
    count(*) filter (where e.started_at_ms - e.created_at_ms <= 600000),
    count(*) filter (where e.started_at_ms - e.created_at_ms <= 3600000),
    count(*) filter (where e.started_at_ms - e.created_at_ms <= 86400000)] as wait_at_most,
  coalesce(sum(e.terminal_at_ms - e.started_at_ms), 0)::int8 as run_ms,
  array[count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 10), count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 50),
    count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 100), count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 500),
    count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 1000), count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 5000),
    count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 10000),
    count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 60000),
    count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 600000),
    count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 3600000),
    count(*) filter (where e.terminal_at_ms - e.started_at_ms <= 86400000)] as run_at_most
from newly e
group by e.namespace, e.lane_id, e.terminal_outcome
