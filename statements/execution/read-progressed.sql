-- Made by `npm run sql`; do not edit.
-- execution.read-progressed
-- src/engine/transition/read-locked.ts: readProgressed
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid

select e.execution_id
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
-- from src/engine/transition/expiry-count.ts: hasRecordedSql
where coalesce((
  select s.lease_epoch
  from flowfabric.ff_step s
  where s.execution_id = e.execution_id and s.step_no > 0
  order by s.step_no desc
  limit 1) = e.lease_epoch, false)
-- end of hasRecordedSql
