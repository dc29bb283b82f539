-- Made by `npm run sql`; do not edit.
-- execution.lock-targets
-- src/engine/transition/operator-set.ts: lockTargets
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
-- columns:
--   execution_id uuid

select e.execution_id
from unnest($1::uuid[], $2::int2[], $3::text[]) as i (execution_id, partition_key, namespace)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
order by i.execution_id
for no key update of e skip locked
