-- Made by `npm run sql`; do not edit.
-- suspension.take-signals
-- src/engine/transition/take-signals.ts: takeSignals
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 signal_nos int8[]
--   $3 suspension_ids uuid[]
--   $4 taken_at_ms int8
-- columns: none

update flowfabric.ff_signal g
set taken_at_ms = $4, suspension_id = t.suspension_id
from unnest($1::uuid[], $2::int8[], $3::uuid[]) as t (execution_id, signal_no, suspension_id)
where g.execution_id = any (array[t.execution_id]) and g.signal_no = any (array[t.signal_no])
