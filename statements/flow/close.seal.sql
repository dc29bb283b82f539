-- Made by `npm run sql`; do not edit.
-- flow.close.seal
-- src/engine/flow/close.ts: sealAll
-- 49 lines, 6 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 actor text
--   $3 now_ms int8
-- columns:
--   owes bool

with changed as materialized (
  select flow_id, partition_key, namespace, $3::int8 as now_ms
  from flowfabric.ff_flow_core
  where flow_id = $1
),
-- from src/engine/flow/seal-groups.ts: sealGroups
sealing as materialized (
  select g.downstream_id, l.flow_id, l.edge_id, l.upstream_id, l.resolution
  from changed c
  join flowfabric.ff_edge_group g on g.flow_id = any (array[c.flow_id])
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
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor)
  select now_ms, flow_id, 'flow_closed', partition_key, namespace, $2
  from changed
)
select exists (select from owed) as owes
