-- Made by `npm run sql`; do not edit.
-- signal.lock
-- src/engine/waiting/signal/read-locked.ts: lockFree
-- 10 lines, 0 CTEs
--
-- parameters:
--   $1 waitpoint_ids uuid[] with nulls
--   $2 execution_ids uuid[] with nulls
--   $3 partition_keys int2[]
--   $4 namespaces text[] with nulls
-- columns:
--   execution_id uuid

select e.execution_id
from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[]) as i (waitpoint_id, execution_id, partition_key, namespace)
left join flowfabric.ff_waitpoint_pending p
  on p.waitpoint_id = any (array[i.waitpoint_id]) and p.partition_key = i.partition_key
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[coalesce(i.execution_id, p.execution_id)])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
order by coalesce(i.execution_id, p.execution_id)
for no key update of e skip locked
