-- Made by `npm run sql`; do not edit.
-- health.stranded
-- src/engine/health/work.ts: readStranded
-- 19 lines, 0 CTEs
--
-- parameters:
--   $1 newest int8
--   $2 limit int8
-- columns:
--   execution_id uuid
--   partition_key int2
--   found text

select e.execution_id, e.partition_key, concat_ws('/', e.lifecycle_phase, e.eligibility_state, e.attempt_state) as found
from (
  select n.execution_id
  from flowfabric.ff_exec_input n
  order by n.created_at_ms desc, n.execution_id desc
  limit $1
) newest
join flowfabric.ff_exec_core e on e.execution_id = newest.execution_id
left join flowfabric.ff_ready r
  on r.queue_id = e.queue_id and r.neg_priority = -e.priority and r.rank = e.rank and r.execution_id = e.execution_id
left join flowfabric.ff_lease l on l.execution_id = e.execution_id
where e.lifecycle_phase <> 'terminal'
  and r.execution_id is null
  and l.execution_id is null
  and e.delay_until_ms is null
  and e.parked_at_ms is null
  and not exists (
    select from flowfabric.ff_cancel_backlog b where b.execution_id = e.execution_id and b.generation = e.generation)
limit $2
