-- Made by `npm run sql`; do not edit.
-- suspension.rearm
-- src/engine/waiting/suspension/rearm.ts: rearm
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 wake_ats_ms int8[] with nulls
-- columns: none

update flowfabric.ff_suspension_current s
set wake_at_ms = i.wake_at_ms
from unnest($1::uuid[], $2::int8[]) as i (execution_id, wake_at_ms)
where s.execution_id = any (array[i.execution_id]) and s.wake_at_ms is distinct from i.wake_at_ms
