-- Made by `npm run sql`; do not edit.
-- invariant.attempt
-- src/engine/kernel/invariant.ts: invariant
-- 5 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select e.execution_id::text as subject, coalesce(a.outcome, 'no record') as found
from flowfabric.ff_exec_core e
left join flowfabric.ff_attempt a on a.execution_id = e.execution_id and a.attempt_index = e.attempt_index
where e.lifecycle_phase = 'terminal' and e.attempt_state = 'attempt_terminal' and a.ended_at_ms is null
-- end of invariants
limit 10
