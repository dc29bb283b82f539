-- Made by `npm run sql`; do not edit.
-- invariant.lease
-- src/engine/kernel/invariant.ts: invariant
-- 7 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select coalesce(e.execution_id, l.execution_id)::text as subject,
  concat_ws(' ', e.lifecycle_phase, 'epoch', e.lease_epoch, 'lease epoch', l.lease_epoch) as found
from (select * from flowfabric.ff_exec_core where lifecycle_phase = 'active') e
  full join flowfabric.ff_lease l
  on l.execution_id = e.execution_id and l.lease_id = e.lease_id and l.lease_epoch = e.lease_epoch
where e.execution_id is null or l.execution_id is null
-- end of invariants
limit 10
