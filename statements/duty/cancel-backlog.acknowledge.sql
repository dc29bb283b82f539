-- Made by `npm run sql`; do not edit.
-- duty.cancel-backlog.acknowledge
-- src/engine/dispatch/cancel-backlog.ts: acknowledge
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 generations int4[]
-- columns: none

delete from flowfabric.ff_cancel_backlog b
using unnest($1::uuid[], $2::int4[]) as i (execution_id, generation)
where b.execution_id = any (array[i.execution_id]) and b.generation = i.generation
