-- Made by `npm run sql`; do not edit.
-- duty.cancel-backlog.lock
-- src/engine/dispatch/cancel-backlog.ts: lockBacklog
-- 5 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   generation int4

select b.execution_id, b.generation
from flowfabric.ff_cancel_backlog b
where b.execution_id = any ($1)
order by b.execution_id, b.generation
for update of b skip locked
