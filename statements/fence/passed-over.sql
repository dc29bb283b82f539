-- Made by `npm run sql`; do not edit.
-- fence.passed-over
-- src/engine/transition/fenced-answer.ts: findPassedOver
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
-- columns:
--   ordinal int8

select i.ordinal
from unnest($1::uuid[], $2::int2[], $3::text[]) with ordinality as i (execution_id, partition_key, namespace, ordinal)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
