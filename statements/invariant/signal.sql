-- Made by `npm run sql`; do not edit.
-- invariant.signal
-- src/engine/kernel/invariant.ts: invariant
-- 6 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select e.execution_id::text as subject, concat(g.signal_name, ' waits, attached ', e.attached) as found
from flowfabric.ff_signal g
join flowfabric.ff_exec_core e on e.execution_id = g.execution_id and e.generation = g.generation
where g.waitpoint_id is null and g.taken_at_ms is null and e.lifecycle_phase <> 'terminal'
  and e.attached & 256 /* signals */ = 0
-- end of invariants
limit 10
