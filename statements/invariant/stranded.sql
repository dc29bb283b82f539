-- Made by `npm run sql`; do not edit.
-- invariant.stranded
-- src/engine/kernel/invariant.ts: invariant
-- 13 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select e.execution_id::text as subject, concat_ws('/', e.lifecycle_phase, e.eligibility_state, e.attempt_state) as found
from flowfabric.ff_exec_core e
left join flowfabric.ff_ready r
  on r.queue_id = e.queue_id and r.neg_priority = -e.priority and r.rank = e.rank and r.execution_id = e.execution_id
left join flowfabric.ff_lease l on l.execution_id = e.execution_id
where e.lifecycle_phase <> 'terminal'
  and r.execution_id is null
  and l.execution_id is null
  and e.delay_until_ms is null
  and e.parked_at_ms is null
  -- It left its queue when its flow was cancelled.
  and not exists (
    select from flowfabric.ff_cancel_backlog b where b.execution_id = e.execution_id and b.generation = e.generation)
-- end of invariants
limit 10
