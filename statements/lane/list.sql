-- Made by `npm run sql`; do not edit.
-- lane.list
-- src/engine/lane/list.ts: listStatement
-- 7 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text or null
--   $2 wanted text or null
--   $3 after_namespace text
--   $4 after_lane text
--   $5 limit int8
-- columns:
--   namespace text
--   lane_id text
--   lane_state text
--   registered_at_ms int8
--   registered_by text

select namespace, lane_id, lane_state, registered_at_ms, registered_by
from flowfabric.ff_lane_registry
where ($1::text is null or namespace = $1)
  and ($2::text is null or namespace = $2)
  and (namespace, lane_id) > ($3, $4)
order by namespace, lane_id
limit $5
