-- Made by `npm run sql`; do not edit.
-- invariant.policy-bounds
-- src/engine/kernel/invariant.ts: invariant
-- 6 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select e.execution_id::text as subject, concat('attached ', e.attached) as found
from flowfabric.ff_exec_input n
join flowfabric.ff_exec_core e on e.execution_id = n.execution_id
where (e.attached & 2048 /* attemptTimeout */ <> 0) <> coalesce(n.policy ? 'attemptTimeoutMs', false)
  or (e.attached & 4096 /* signalLimit */ <> 0) <> coalesce(n.policy ? 'maxSignalCount', false)
-- end of invariants
limit 10
