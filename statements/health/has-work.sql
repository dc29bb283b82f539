-- Made by `npm run sql`; do not edit.
-- health.has-work
-- src/engine/health/upkeep.ts: hasWork
-- 1 line, 0 CTEs
--
-- parameters: none
-- columns:
--   has_work bool

select exists (select from flowfabric.ff_exec_input) as has_work
