-- Made by `npm run sql`; do not edit.
-- flow.set-tag
-- src/engine/flow/set-tag.ts: writeTag
-- 18 lines, 2 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 key text
--   $5 value text
--   $6 limit int8
-- columns:
--   flow_id uuid

with flow as materialized (
  select flow_id, root_flow_id, created_at_ms, namespace
  from flowfabric.ff_flow_core
  where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
    and (select count(*) from flowfabric.ff_flow_tag o where o.flow_id = $1 and o.tag_key <> $4) < $6
),
tagged as (
  insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
  select flow_id, created_at_ms, namespace, $4, $5
  from flow
  on conflict (flow_id, tag_key) do update set tag_value = excluded.tag_value
)
update flowfabric.ff_flow_core f
set last_mutation_at_ms = case when f.flow_id = t.flow_id
    then greatest(flowfabric.ff_now_ms(), f.last_mutation_at_ms + 1) else f.last_mutation_at_ms end
from flow t
where f.flow_id = any (array[t.flow_id, t.root_flow_id])
returning f.flow_id
