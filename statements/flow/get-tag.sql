-- Made by `npm run sql`; do not edit.
-- flow.get-tag
-- src/engine/flow/get-tag.ts: readTag
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 key text
-- columns:
--   tag_value text

select t.tag_value
from flowfabric.ff_flow_core f
join flowfabric.ff_flow_tag t on t.flow_id = any (array[f.flow_id])
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3) and t.tag_key = $4
