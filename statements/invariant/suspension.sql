-- Made by `npm run sql`; do not edit.
-- invariant.suspension
-- src/engine/kernel/invariant.ts: invariant
-- 8 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select coalesce(e.execution_id, s.execution_id)::text as subject,
  concat_ws(' ', e.lifecycle_phase, 'attached', e.attached, 'suspension', s.suspension_id) as found
from (select * from flowfabric.ff_exec_core where lifecycle_phase = 'suspended') e
  full join (select * from flowfabric.ff_suspension_current where closed_at_ms is null) s
  on s.execution_id = e.execution_id and s.generation = e.generation and s.attempt_index = e.attempt_index
  and s.lease_epoch = e.lease_epoch
where e.execution_id is null or s.execution_id is null or e.attached & 2 /* suspension */ = 0
-- end of invariants
limit 10
