-- Made by `npm run sql`; do not edit.
-- schedule.lock
-- src/engine/schedule/trigger.ts: lockOne
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 schedule_id uuid
-- columns: none

select from flowfabric.ff_schedule
where schedule_id = $1
for no key update
