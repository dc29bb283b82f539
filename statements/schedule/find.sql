-- Made by `npm run sql`; do not edit.
-- schedule.find
-- src/engine/schedule/trigger.ts: find
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 schedule_name text
-- columns:
--   schedule_id uuid

select schedule_id
from flowfabric.ff_schedule
where namespace = $1 and schedule_name = $2
