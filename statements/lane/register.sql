-- Made by `npm run sql`; do not edit.
-- lane.register
-- src/engine/queue/intern.ts: registerLane
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 lane text
--   $3 registered_by text
-- columns: none

insert into flowfabric.ff_lane_registry (namespace, lane_id, registered_at_ms, registered_by)
values ($1, $2, flowfabric.ff_now_ms(), $3)
on conflict (namespace, lane_id) do nothing
