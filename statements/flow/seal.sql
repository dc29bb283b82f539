-- Made by `npm run sql`; do not edit.
-- flow.seal
-- src/engine/flow/seal.ts: sealGroup
-- 52 lines, 6 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 downstream_id uuid
--   $3 actor text
-- columns:
--   owes bool

with changed as (
  update flowfabric.ff_flow_core f
  set last_mutation_at_ms = greatest(c.now_ms, f.last_mutation_at_ms)
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
  returning f.flow_id, f.graph_revision, f.partition_key, f.namespace, f.last_mutation_at_ms as now_ms
),
-- from src/engine/flow/seal-groups.ts: sealGroups
sealing as materialized (
  select g.downstream_id, l.flow_id, l.edge_id, l.upstream_id, l.resolution
  from changed c
  join flowfabric.ff_edge_group g on g.downstream_id = any (array[$2::uuid])
  left join lateral (
    select x.flow_id, x.edge_id, x.upstream_id, x.resolution
    from flowfabric.ff_edge x
    where g.state = 'pending' and g.failed + g.skipped > g.total - g.quorum
      and x.downstream_id = any (array[g.downstream_id]) and x.resolution is not null
    limit 1
  ) l on true
  where not g.is_sealed
),
sealed as (
  update flowfabric.ff_edge_group g
  set is_sealed = true,
    satisfied = g.satisfied - case when s.resolution = 'satisfied' then 1 else 0 end,
    failed = g.failed - case when s.resolution = 'failed' then 1 else 0 end,
    skipped = g.skipped - case when s.resolution = 'skipped' then 1 else 0 end
  from sealing s
  where g.downstream_id = any (array[s.downstream_id])
),
unresolved as (
  update flowfabric.ff_edge x
  set resolution = null, resolved_generation = null
  from sealing s
  where x.flow_id = any (array[s.flow_id]) and x.edge_id = any (array[s.edge_id])
),
-- end of sealGroups
-- from src/engine/flow/owe-dispatch.ts: owing
owed as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, c.flow_id, c.now_ms, e.terminal_outcome, true
  from changed c
  cross join unnest(array(select distinct upstream_id from sealing where upstream_id is not null)::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  where e.lifecycle_phase = 'terminal'
  on conflict (execution_id, generation, outcome) do update set flow_id = excluded.flow_id
  returning execution_id
),
-- end of owing
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select now_ms, flow_id, $2, 'flow_changed', partition_key, namespace, $3,
    jsonb_build_object('graphRevision', graph_revision, 'change', 'group_sealed')
  from changed
)
select exists (select from owed) as owes
