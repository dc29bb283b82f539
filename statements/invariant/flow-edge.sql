-- Made by `npm run sql`; do not edit.
-- invariant.flow-edge
-- src/engine/kernel/invariant.ts: invariant
-- 9 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/flow/invariants.ts: flowInvariants
select x.edge_id::text as subject, concat(x.kind, ' from an upstream that is ', u.public_state) as found
from flowfabric.ff_edge x
join flowfabric.ff_flow_core f using (flow_id)
join flowfabric.ff_exec_core u on u.execution_id = x.upstream_id
where x.resolution is null and u.lifecycle_phase = 'terminal' and (x.kind = 'start' or not f.is_held)
  and not exists (
    select from flowfabric.ff_dispatch d
    where d.execution_id = x.upstream_id and d.generation = u.generation and d.flow_id is not null)
-- end of flowInvariants
limit 10
