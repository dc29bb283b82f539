-- Made by `npm run sql`; do not edit.
-- flow.replay.read
-- src/engine/flow/replay-read.ts: readMember
-- 19 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
-- columns:
--   public_state text
--   generation int4
--   replay_count int4
--   most_replays int4
--   next_deadline_ms int8 or null
--   deadline_dropped bool
--   is_sub_flow bool
--   group_state text
--   lost_upstream_id uuid or null
--   lost_upstream_state text

select e.public_state, e.generation, e.replay_count,
  coalesce((n.policy ->> 'maxReplayCount')::int4, 10) as most_replays,
  case when n.deadline_after_ms is not null then c.now_ms + n.deadline_after_ms
    when n.deadline_at_ms > c.now_ms then n.deadline_at_ms end as next_deadline_ms,
  coalesce(n.deadline_at_ms <= c.now_ms, false) as deadline_dropped, e.attached & 512 /* subFlow */ <> 0 as is_sub_flow,
  g.state as group_state, u.execution_id as lost_upstream_id, u.public_state as lost_upstream_state
from flowfabric.ff_exec_core e
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) c
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[e.execution_id])
left join lateral (
  select u.execution_id, u.public_state
  from flowfabric.ff_edge x
  join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
  where g.state = 'impossible' and x.downstream_id = any (array[e.execution_id]) and x.resolution in ('failed', 'skipped')
  order by x.resolution, x.edge_id
  limit 1
) u on true
where e.execution_id = $1
