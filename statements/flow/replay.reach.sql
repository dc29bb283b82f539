-- Made by `npm run sql`; do not edit.
-- flow.replay.reach
-- src/engine/flow/replay-read.ts: readReach
-- 55 lines, 2 CTEs
--
-- parameters:
--   $1 execution_id uuid
-- columns:
--   edge_flow_id uuid
--   edge_id uuid
--   upstream_id uuid
--   downstream_id uuid
--   resolution text
--   policy text
--   on_satisfied text
--   quorum int4 or null
--   state text
--   total int4
--   satisfied int4
--   failed int4
--   skipped int4
--   is_sealed bool
--   is_downstream_skipped bool
--   standing_id uuid or null

with recursive line (execution_id, flow_id, member_id, is_ended, is_cancelled) as (
  select e.execution_id, f.flow_id, f.member_id, f.ended_at_ms is not null, f.cancelled_at_ms is not null
  from flowfabric.ff_exec_core e
  join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
  where e.execution_id = $1
  union all
  select e.execution_id, f.flow_id, f.member_id, f.ended_at_ms is not null, f.cancelled_at_ms is not null
  from line l
  cross join lateral (
    select e.execution_id, e.flow_id
    from flowfabric.ff_exec_core e
    where e.execution_id = l.member_id and e.terminal_outcome <> 'skipped'
    offset 0
  ) e
  join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
  where l.is_ended
),
reach (execution_id, standing_id) as (
  select execution_id, null::uuid
  from line
  union
  select n.execution_id, n.standing_id
  from reach r
  cross join lateral (
    select x.downstream_id as execution_id, null::uuid as standing_id
    from flowfabric.ff_edge x
    join flowfabric.ff_flow_core f on f.flow_id = any (array[x.flow_id]) and f.cancelled_at_ms is null
    join flowfabric.ff_edge_group g on g.downstream_id = any (array[x.downstream_id])
    join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
    where x.upstream_id = any (array[r.execution_id]) and g.state = 'impossible' and d.terminal_outcome = 'skipped'
    union all
    select e.execution_id, r.execution_id
    from flowfabric.ff_exec_core s
    join flowfabric.ff_flow_member m
      on m.flow_id = any (array[s.flow_id]) and m.execution_id = any (array[s.execution_id])
    join flowfabric.ff_flow_core f on f.flow_id = any (array[m.sub_flow_id]) and f.cancelled_at_ms is null
    cross join lateral (
      select e.execution_id
      from flowfabric.ff_flow_member i
      join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
      where i.flow_id = f.flow_id and e.terminal_outcome not in ('none', 'skipped')
      offset 0
    ) e
    where s.execution_id = any (array[r.execution_id]) and s.terminal_outcome = 'skipped'
  ) n
)
select x.flow_id as edge_flow_id, x.edge_id, x.upstream_id, x.downstream_id, x.resolution, g.policy, g.on_satisfied,
  g.quorum, g.state, g.total, g.satisfied, g.failed, g.skipped, g.is_sealed,
  d.terminal_outcome = 'skipped' as is_downstream_skipped, r.standing_id
from reach r
join flowfabric.ff_edge x on x.upstream_id = any (array[r.execution_id])
join flowfabric.ff_flow_core f on f.flow_id = any (array[x.flow_id]) and f.cancelled_at_ms is null
join flowfabric.ff_edge_group g on g.downstream_id = any (array[x.downstream_id])
join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
where x.resolution is not null and g.state <> 'satisfied'
