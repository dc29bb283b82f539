-- Made by `npm run sql`; do not edit.
-- duty.lease-expiry.lock
-- src/engine/duties/lease-expiry.ts: lock
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid

select e.execution_id
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
order by i.execution_id
for no key update of e, l skip locked
