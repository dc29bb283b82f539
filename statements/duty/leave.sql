-- Made by `npm run sql`; do not edit.
-- duty.leave
-- src/engine/duties/taken-duty.ts: leave
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 duty text
--   $2 filter text
--   $3 taken_by text
-- columns: none

update flowfabric.ff_duty
set taken_until_ms = null, taken_by = null
where duty = $1 and filter = $2 and taken_by = $3
