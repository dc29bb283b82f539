-- Made by `npm run sql`; do not edit.
-- schedule.fire.previous
-- src/engine/schedule/locked.ts: readPrevious
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 schedule_ids uuid[]
-- columns:
--   schedule_id uuid

select s.schedule_id
from unnest($1::uuid[]) as i (schedule_id)
join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[s.last_execution_id])
where e.lifecycle_phase <> 'terminal'
