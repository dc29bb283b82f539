-- Made by `npm run sql`; do not edit.
-- dispatch.repeat-ended
-- src/engine/dispatch/release-members.ts: repeatEnded
-- 11 lines, 0 CTEs
--
-- parameters:
--   $1 flow_ids uuid[]
--   $2 now_ms int8
-- columns: none

insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
select e.execution_id, e.generation, e.flow_id, $2, e.terminal_outcome, true
from unnest($1::uuid[]) as i (flow_id)
cross join lateral (
  select e.execution_id, e.generation, e.flow_id, e.terminal_outcome
  from flowfabric.ff_flow_member m
  join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
  where m.flow_id = i.flow_id and e.lifecycle_phase = 'terminal'
  offset 0
) e
on conflict do nothing
