-- Made by `npm run sql`; do not edit.
-- lane.measure-now
-- src/engine/lane/measure.ts: nowStatement
-- 1 line, 0 CTEs
--
-- parameters: none
-- columns:
--   now_ms int8

select flowfabric.ff_now_ms() as now_ms
