-- Made by `npm run sql`; do not edit.
-- flow.set-tag.find
-- src/engine/flow/set-tag.ts: findFlow
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   flow_id uuid

select flow_id
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
