-- Made by `npm run sql`; do not edit.
-- invariant.outcome
-- src/engine/kernel/invariant.ts: invariant
-- 6 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select e.execution_id::text as subject, concat(e.terminal_outcome, ' but the event says ', v.outcome) as found
from flowfabric.ff_exec_core e
join flowfabric.ff_event v
  on v.execution_id = e.execution_id and v.event_type = 'ended' and v.generation = e.generation
where v.outcome is distinct from e.terminal_outcome
-- end of invariants
limit 10
