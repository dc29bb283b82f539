-- Made by `npm run sql`; do not edit.
-- health.clock-steps
-- src/engine/health/upkeep.ts: readSteps
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 supervisor text
-- columns:
--   ahead_ms int8
--   set_back_ms int8 or null
--   set_back_ms_ago int8 or null

select d.last_run_at_ms - flowfabric.ff_now_ms() as ahead_ms, (d.last_report ->> 'setBackMs')::int8 as set_back_ms,
  flowfabric.ff_now_ms() - (d.last_report ->> 'setBackAt')::int8 as set_back_ms_ago
from flowfabric.ff_duty d
where d.duty = $1 and d.last_run_at_ms is not null
order by d.last_run_at_ms desc
