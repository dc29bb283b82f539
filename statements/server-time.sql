-- Made by `npm run sql`; do not edit.
-- server-time
-- src/engine/kernel/server-time.ts: readClock
-- 1 line, 0 CTEs
--
-- parameters: none
-- columns:
--   now_ms int8

select flowfabric.ff_now_ms() as now_ms
