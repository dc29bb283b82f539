-- Made by `npm run sql`; do not edit.
-- dispatch.cancel-members
-- src/engine/dispatch/cancel-members.ts: cancel
-- 30 lines, 2 CTEs
--
-- parameters:
--   $1 downstream_ids uuid[]
--   $2 group_states text[]
--   $3 flow_ids uuid[]
--   $4 now_ms int8
-- columns:
--   backlogged int8

with cancelling as materialized (
  select distinct on (c.execution_id) c.*
  from (
    select u.execution_id, u.generation, u.flow_id, 'sibling_quorum_' || i.state as reason, 'dispatch' as actor
    from unnest($1::uuid[], $2::text[]) as i (downstream_id, state)
    join flowfabric.ff_edge x on x.downstream_id = any (array[i.downstream_id])
    join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
    where x.kind <> 'start' and u.lifecycle_phase <> 'terminal'
    union all
    select u.execution_id, u.generation, u.flow_id, 'flow_cancelled', 'cancel_flow'
    from unnest($3::uuid[]) as i (flow_id)
    cross join lateral (
      select u.execution_id, u.generation, u.flow_id
      from flowfabric.ff_flow_member m
      join flowfabric.ff_exec_core u on u.execution_id = any (array[m.execution_id])
      where m.flow_id = i.flow_id and u.lifecycle_phase <> 'terminal'
      offset 0
    ) u
  ) c
  order by c.execution_id, c.reason desc
),
backlogged as (
  insert into flowfabric.ff_cancel_backlog as b (execution_id, generation, flow_id, created_at_ms, reason, actor)
  select execution_id, generation, flow_id, $4, reason, actor
  from cancelling
  on conflict (execution_id, generation) do update set created_at_ms = b.created_at_ms
  returning b.execution_id
)
select count(*) as backlogged
from backlogged
