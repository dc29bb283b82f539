-- Made by `npm run sql`; do not edit.
-- flow.graph
-- src/engine/flow/graph.ts: readGraph
-- 37 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 after_member uuid
--   $5 after_edge uuid
--   $6 limit int8
--   $7 most_edges int8
-- columns:
--   graph_revision int8
--   seen int8 or null
--   execution_id uuid or null
--   member_name text or null
--   sub_flow_id uuid or null
--   execution_kind text or null
--   lane_id text or null
--   public_state text
--   generation int4 or null
--   started_at_ms int8 or null
--   terminal_at_ms int8 or null
--   reason text or null
--   edge_group jsonb or null
--   edges jsonb or null

select f.graph_revision, m.seen, m.execution_id, m.member_name, m.sub_flow_id, q.execution_kind, q.lane_id, e.public_state,
  e.generation, e.started_at_ms, e.terminal_at_ms, coalesce(e.failure_reason, e.cancellation_reason) as reason,
  -- from src/engine/flow/edge-group.ts: groupJson
  case when g.downstream_id is not null then jsonb_build_object('downstreamId', g.downstream_id, 'state', g.state, 'isSealed', g.is_sealed,
    'policy', jsonb_build_object('kind', g.policy, 'onSatisfied', g.on_satisfied)
    || case when g.policy = 'quorum' then jsonb_build_object('k', g.quorum) else '{}' end,
    'total', g.total, 'satisfied', g.satisfied, 'failed', g.failed, 'skipped', g.skipped, 'firedAt', g.fired_at_ms) end as edge_group,
  x.edges
  -- end of groupJson
from flowfabric.ff_flow_core f
left join lateral (
  select m.*, count(*) over () as seen,
    sum(coalesce(g.total, 0)) over (order by m.execution_id) - coalesce(g.total, 0) as edges_before
  from (
    select m.execution_id, m.member_name, m.sub_flow_id
    from flowfabric.ff_flow_member m
    where m.flow_id = f.flow_id and m.execution_id >= $4 and (m.execution_id > $4 or $5 < 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
    order by m.execution_id
    limit $6
  ) m
  left join flowfabric.ff_edge_group g on g.downstream_id = any (array[m.execution_id])
) m on m.edges_before < $7
left join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
left join flowfabric.ff_queue q on q.queue_id = e.queue_id
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[m.execution_id])
left join lateral (
  select jsonb_agg(jsonb_build_array(x.edge_id, x.upstream_id, x.kind, x.resolution, x.resolved_generation, x.data_ref,
    x.created_at_ms, x.created_by) order by x.edge_id) as edges
  from (
    select *
    from flowfabric.ff_edge x
    where x.downstream_id = m.execution_id
      and x.edge_id > case when m.execution_id = $4 then $5 else '00000000-0000-0000-0000-000000000000'::uuid end
    order by x.edge_id
    limit $7 - m.edges_before + 1
  ) x
) x on true
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
order by m.execution_id
