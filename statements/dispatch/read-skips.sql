-- Made by `npm run sql`; do not edit.
-- dispatch.read-skips
-- src/engine/dispatch/read-tree.ts: readSkips
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 downstream_ids uuid[]
-- columns:
--   downstream_id uuid
--   is_reached bool

select i.downstream_id, (
  select x.edge_id
  from flowfabric.ff_edge x
  join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
  where x.downstream_id = any (array[i.downstream_id])
    and u.terminal_outcome = 'skipped' and u.failure_reason = 'dependency_failed' and x.kind <> 'optional'
  limit 1) is not null as is_reached
from unnest($1::uuid[]) as i (downstream_id)
