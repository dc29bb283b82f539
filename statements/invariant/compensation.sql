-- Made by `npm run sql`; do not edit.
-- invariant.compensation
-- src/engine/kernel/invariant.ts: invariant
-- 9 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select s.execution_id::text as subject, concat(s.kind, ' ', s.step_name, ', attached ', e.attached) as found
from flowfabric.ff_step s
join flowfabric.ff_exec_core e on e.execution_id = s.execution_id and e.generation = s.generation
where s.kind in ('compensation', 'hook') and e.attached & 24576 /* compensation | onFailure */ = 0
union all
select e.execution_id::text, concat('asked to stop without a deadline, ', e.public_state)
from flowfabric.ff_exec_core e
where e.lifecycle_phase <> 'terminal' and e.cancel_requested_at_ms is not null and e.cancel_deadline_at_ms is null
-- end of invariants
limit 10
