-- Made by `npm run sql`; do not edit.
-- invariant.taken-signal
-- src/engine/kernel/invariant.ts: invariant
-- 5 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select g.execution_id::text as subject, concat(g.signal_name, ' was taken, ', p.waitpoint_key, ' is ', p.state) as found
from flowfabric.ff_signal g
join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = g.waitpoint_id
where g.taken_at_ms is not null and p.state <> 'closed'
-- end of invariants
limit 10
