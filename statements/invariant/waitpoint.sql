-- Made by `npm run sql`; do not edit.
-- invariant.waitpoint
-- src/engine/kernel/invariant.ts: invariant
-- 10 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select p.execution_id::text as subject,
  concat_ws(' ', p.waitpoint_key, p.state, 'of', e.public_state, 'attached', e.attached) as found
from flowfabric.ff_waitpoint_pending p
left join flowfabric.ff_exec_core e on e.execution_id = p.execution_id and e.partition_key = p.partition_key
left join flowfabric.ff_suspension_current s
  on s.execution_id = p.execution_id and s.suspension_id = p.suspension_id and s.closed_at_ms is null
where p.state = 'active' and s.execution_id is null
  or p.state = 'pending' and (coalesce(e.lifecycle_phase, 'terminal') = 'terminal'
    or e.attached & 1 /* waitpoints */ = 0)
-- end of invariants
limit 10
