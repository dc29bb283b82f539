-- Made by `npm run sql`; do not edit.
-- flow.read-namespace
-- src/engine/flow/edit.ts: readNamespace
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
-- columns:
--   namespace text

select namespace
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2
