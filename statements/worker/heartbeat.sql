-- Made by `npm run sql`; do not edit.
-- worker.heartbeat
-- src/engine/worker/heartbeat.ts: heartbeat
-- 38 lines, 5 CTEs
--
-- parameters:
--   $1 namespaces text[]
--   $2 worker_instance_ids text[]
-- columns:
--   ordinal int8
--   is_locked bool
--   expires_at_ms int8 or null

with input as materialized (
  select *
  from unnest($1::text[], $2::text[]) with ordinality as i (namespace, worker_instance_id, ordinal)
),
target as materialized (
  select i.ordinal, w.*
  from input i
  join flowfabric.ff_worker w
    on w.namespace = any (array[i.namespace]) and w.worker_instance_id = any (array[i.worker_instance_id])
  order by i.namespace, i.worker_instance_id
  for no key update of w skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
beaten as (
  update flowfabric.ff_worker w
  set heartbeat_at_ms = k.now_ms, expires_at_ms = k.now_ms + k.ttl_ms
  from looked k
  where w.namespace = any (array[k.namespace]) and w.worker_instance_id = any (array[k.worker_instance_id])
    and k.expires_at_ms > k.now_ms
  returning k.ordinal, w.expires_at_ms
)
select ordinal, true as is_locked, expires_at_ms
from beaten
union all
select i.ordinal, false, null
from input i
join flowfabric.ff_worker w
  on w.namespace = any (array[i.namespace]) and w.worker_instance_id = any (array[i.worker_instance_id])
where i.ordinal not in (select ordinal from target)
