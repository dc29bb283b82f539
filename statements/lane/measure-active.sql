-- Made by `npm run sql`; do not edit.
-- lane.measure-active
-- src/engine/lane/measure.ts: activeStatement
-- 13 lines, 1 CTE
--
-- parameters:
--   $1 namespace text or null
--   $2 stop int8
-- columns:
--   namespace text
--   lane_id text
--   count int8
--   is_full bool

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
group by q.namespace, q.lane_id
