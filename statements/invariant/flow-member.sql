-- Made by `npm run sql`; do not edit.
-- invariant.flow-member
-- src/engine/kernel/invariant.ts: invariant
-- 10 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/flow/invariants.ts: flowInvariants
select m.execution_id::text as subject, concat_ws(' ', 'flow', e.flow_id, 'attached', e.attached) as found
from flowfabric.ff_flow_member m
join flowfabric.ff_exec_core e using (execution_id)
left join flowfabric.ff_flow_core i on i.flow_id = m.sub_flow_id and i.member_id = m.execution_id
where e.flow_id is distinct from m.flow_id
  or e.attached & 16 /* flow */ = 0
  or (e.attached & 512 /* subFlow */ <> 0) <> (m.sub_flow_id is not null)
  or m.sub_flow_id is not null and i.flow_id is null and exists (
    select from flowfabric.ff_flow_core f where f.flow_id = m.flow_id)
-- end of flowInvariants
limit 10
