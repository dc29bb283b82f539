-- Made by `npm run sql`; do not edit.
-- duty.cancel-backlog.lock
-- src/engine/dispatch/cancel-backlog.ts: lockBacklog
-- 17 lines, 2 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   generation int4

with backlog as materialized (
  select b.execution_id, b.generation
  from flowfabric.ff_cancel_backlog b
  where b.execution_id = any ($1)
  order by b.execution_id, b.generation
  for update of b skip locked
),
locked as materialized (
  select e.execution_id
  from (select distinct execution_id from backlog) b
  join flowfabric.ff_exec_core e on e.execution_id = any (array[b.execution_id])
  order by b.execution_id
  for no key update of e skip locked
)
select execution_id, generation
from backlog
where execution_id in (select execution_id from locked)
