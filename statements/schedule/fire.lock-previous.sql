-- Made by `npm run sql`; do not edit.
-- schedule.fire.lock-previous
-- src/engine/schedule/locked.ts: lockPrevious
-- 7 lines, 0 CTEs
--
-- parameters:
--   $1 schedule_ids uuid[]
-- columns:
--   schedule_id uuid

select s.schedule_id
from unnest($1::uuid[]) as i (schedule_id)
join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id]) and s.overlap = 'cancelPrevious'
join flowfabric.ff_exec_core e on e.execution_id = any (array[s.last_execution_id])
where e.lifecycle_phase <> 'terminal'
order by s.last_execution_id
for no key update of e skip locked
