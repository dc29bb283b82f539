-- Made by `npm run sql`; do not edit.
-- duty.release
-- src/engine/kernel/due.ts: release
-- 2 lines, 0 CTEs
--
-- parameters:
--   $1 duty text
--   $2 ids uuid[]
-- columns: none

delete from flowfabric.ff_set_aside s
where s.duty = $1 and s.subject_id = any ($2)
