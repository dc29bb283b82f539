-- Made by `npm run sql`; do not edit.
-- execution.set-tag
-- src/engine/execution/set-tag.ts: writeTag
-- 15 lines, 1 CTE
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 key text
--   $5 value text
--   $6 limit int8
-- columns:
--   execution_id uuid

with tagged as (
  insert into flowfabric.ff_exec_tag as t (execution_id, created_at_ms, namespace, tag_key, tag_value)
  select e.execution_id, e.created_at_ms, e.namespace, $4, $5
  from flowfabric.ff_exec_core e
  where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
    and (select count(*) from flowfabric.ff_exec_tag o where o.execution_id = $1 and o.tag_key <> $4) < $6
  on conflict (execution_id, tag_key) do update set tag_value = excluded.tag_value
  returning t.execution_id
)
update flowfabric.ff_exec_core e
set attached = e.attached | 1024 /* tags */,
  last_mutation_at_ms = greatest(flowfabric.ff_now_ms(), e.last_mutation_at_ms + 1)
from tagged
where e.execution_id = any (array[tagged.execution_id])
returning e.execution_id
