-- Made by `npm run sql`; do not edit.
-- fence.lock
-- src/engine/transition/fence.ts: lockHeld
-- 10 lines, 1 CTE
--
-- parameters:
--   $1 execution_id uuid
-- columns: none

with execution as materialized (
  select execution_id
  from flowfabric.ff_exec_core
  where execution_id = $1
  for no key update
)
select
from execution e
join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
for no key update of l
