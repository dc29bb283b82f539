-- Made by `npm run sql`; do not edit.
-- flow-ending.members
-- src/engine/transition/read-ended-flows.ts: readMembers
-- 27 lines, 1 CTE
--
-- parameters:
--   $1 flow_ids uuid[]
-- columns:
--   flow_id uuid
--   execution_id uuid
--   outcome text
--   failure_reason text or null
--   sub_flow_id uuid or null

with recursive
flawed (flow_id, execution_id, outcome, failure_reason, sub_flow_id) as (
  select i.flow_id, m.*
  from unnest($1::uuid[]) as i (flow_id)
  cross join lateral (
    select e.execution_id, e.terminal_outcome as outcome, e.failure_reason,
      case when e.attached & 512 /* subFlow */ <> 0 then m.sub_flow_id end as sub_flow_id
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = i.flow_id and e.terminal_outcome not in ('none', 'success')
    offset 0
  ) m
  union all
  select f.sub_flow_id, m.*
  from flawed f
  cross join lateral (
    select e.execution_id, e.terminal_outcome as outcome, e.failure_reason,
      case when e.attached & 512 /* subFlow */ <> 0 then m.sub_flow_id end as sub_flow_id
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = f.sub_flow_id and e.terminal_outcome not in ('none', 'success')
    offset 0
  ) m
  where f.outcome = 'skipped' and f.sub_flow_id is not null
)
select flow_id, execution_id, outcome, failure_reason, sub_flow_id
from flawed
