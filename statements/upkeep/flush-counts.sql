-- Made by `npm run sql`; do not edit.
-- upkeep.flush-counts
-- src/engine/duties/embedded-upkeep.ts: flushCounts
-- 1 line, 0 CTEs
--
-- parameters: none
-- columns: none

select from pg_stat_force_next_flush()
