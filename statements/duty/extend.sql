-- Made by `npm run sql`; do not edit.
-- duty.extend
-- src/engine/duties/taken-duty.ts: extend
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 duty text
--   $2 filter text
--   $3 taken_by text
--   $4 term_ms int8
-- columns:
--   is_asynchronous bool

update flowfabric.ff_duty
set taken_until_ms = flowfabric.ff_now_ms() + $4
where duty = $1 and filter = $2 and taken_by = $3
returning set_config('synchronous_commit', 'off', true) is not null as is_asynchronous
