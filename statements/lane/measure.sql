-- Made by `npm run sql`; do not edit.
-- lane.measure
-- src/engine/lane/measure.ts: measureStatement
-- 51 lines, 2 CTEs
--
-- parameters:
--   $1 namespace text or null
--   $2 stop int8
-- columns:
--   namespace text
--   lane_id text
--   most int8
--   ready_count int8
--   oldest_rank int8 or null
--   delayed_count int8
--   suspended_count int8

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
) suspended
