-- Made by `npm run sql`; do not edit.
-- health.unserved-queues
-- src/engine/health/work.ts: readUnserved
-- 14 lines, 0 CTEs
--
-- parameters:
--   $1 limit int8
-- columns:
--   namespace text
--   lane_id text
--   execution_kind text

select q.namespace, q.lane_id, q.execution_kind
from flowfabric.ff_queue q
where exists (select from flowfabric.ff_ready r where r.queue_id = q.queue_id)
  and not exists (
    select
    from flowfabric.ff_worker i
    where i.namespace = any (array[q.namespace, ''])
      and i.expires_at_ms > flowfabric.ff_now_ms()
      and q.lane_id = any (i.lanes)
      and (i.kinds is null or q.execution_kind = any (i.kinds))
      and (q.task_version = '' or q.task_version = any (i.versions))
      and q.required_capabilities <@ i.capabilities)
order by q.namespace, q.lane_id, q.execution_kind
limit $1
