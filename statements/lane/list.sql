-- Made by `npm run sql`; do not edit.
-- lane.list
-- src/engine/lane/list.ts: listStatement
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 in_namespace text or null
--   $2 namespace text
--   $3 lane_id text
--   $4 limit int8
-- columns:
--   namespace text
--   lane_id text
--   lane_state text
--   registered_at_ms int8
--   registered_by text

select namespace, lane_id, lane_state, registered_at_ms, registered_by
from flowfabric.ff_lane_registry
where ($1::text is null or namespace = $1)
  and (namespace, lane_id) > ($2, $3)
order by namespace, lane_id
limit $4
