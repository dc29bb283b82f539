-- Made by `npm run sql`; do not edit.
-- flow-ending.joins
-- src/engine/transition/read-ended-flows.ts: readJoins
-- 49 lines, 2 CTEs
--
-- parameters:
--   $1 flow_ids uuid[]
-- columns:
--   flow_id uuid
--   downstream_id uuid
--   quorum int4 or null
--   total int4
--   satisfied int4
--   failed int4
--   skipped int4
--   state text
--   unresolved jsonb or null

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
),
downstream as materialized (
  select distinct x.downstream_id
  from flawed m
  cross join lateral (
    select x.downstream_id
    from flowfabric.ff_edge x
    where x.upstream_id = any (array[m.execution_id]) and x.kind <> 'start'
    offset 0
  ) x
)
select g.flow_id, g.downstream_id, g.quorum, g.total, g.satisfied, g.failed, g.skipped, g.state, u.unresolved
from downstream d
join flowfabric.ff_edge_group g on g.downstream_id = any (array[d.downstream_id])
cross join lateral (
  select jsonb_agg(jsonb_build_array(y.kind, y.terminal_outcome, y.edge_count)) as unresolved
  from (
    select x.kind, e.terminal_outcome, count(*) as edge_count
    from flowfabric.ff_edge x
    join flowfabric.ff_exec_core e on e.execution_id = any (array[x.upstream_id])
    where g.satisfied + g.failed + g.skipped < g.total
      and x.downstream_id = any (array[g.downstream_id]) and x.resolution is null
    group by x.kind, e.terminal_outcome
  ) y
) u
