-- Made by `npm run sql`; do not edit.
-- flow.connect
-- src/engine/flow/connect.ts: connectMembers
-- 59 lines, 8 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 edge_id uuid
--   $3 upstream_id uuid
--   $4 downstream_id uuid
--   $5 edge_kind text
--   $6 data_ref text or null
--   $7 actor text
--   $8 join_policy text
--   $9 join_on_satisfied text
--   $10 join_quorum int4 or null
-- columns:
--   owes bool

with changed as (
  update flowfabric.ff_flow_core f
  set graph_revision = f.graph_revision + 1,
    edge_count = f.edge_count + 1,
    last_mutation_at_ms = greatest(c.now_ms, f.last_mutation_at_ms)
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
  returning f.flow_id, f.graph_revision, f.partition_key, f.namespace, f.last_mutation_at_ms as now_ms
),
edged as (
  insert into flowfabric.ff_edge (flow_id, edge_id, upstream_id, downstream_id, created_at_ms, kind, created_by, data_ref)
  select flow_id, $2, $3, $4, now_ms, $5::text::flowfabric.ff_edge_kind, $7, $6
  from changed
),
grouped as (
  insert into flowfabric.ff_edge_group as g (downstream_id, flow_id, quorum, total, policy, on_satisfied, is_sealed)
  select $4, flow_id, $10, 1, $8::text::flowfabric.ff_join_policy, $9::text::flowfabric.ff_on_satisfied, false
  from changed
  on conflict (downstream_id) do update set total = g.total + 1
),
child as materialized (
  select e.execution_id, e.queue_id, e.priority, e.rank, e.eligibility_state = 'eligible_now' as was_ready, c.now_ms
  from changed c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[$4::uuid])
  where e.eligibility_state in ('eligible_now', 'not_eligible_until_time')
),
blocked as (
  update flowfabric.ff_exec_core e
  set eligibility_state = 'blocked_by_dependencies',
    delay_until_ms = null,
    parked_at_ms = d.now_ms,
    parked_state = 'waiting_children',
    last_mutation_at_ms = greatest(d.now_ms, e.last_mutation_at_ms)
  from child d
  where e.execution_id = any (array[d.execution_id])
),
unready as (
  delete from flowfabric.ff_ready r
  using child d
  where d.was_ready
    and r.queue_id = any (array[d.queue_id]) and r.neg_priority = -d.priority and r.rank = d.rank and r.execution_id = d.execution_id
),
-- from src/engine/flow/owe-dispatch.ts: owing
owed as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, c.flow_id, c.now_ms, e.terminal_outcome, true
  from changed c
  cross join unnest(array[$3::uuid]::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  where e.lifecycle_phase = 'terminal'
  on conflict (execution_id, generation, outcome) do update set flow_id = excluded.flow_id
  returning execution_id
),
-- end of owing
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, execution_id, event_type, partition_key, namespace, actor, details)
  select now_ms, flow_id, $4, 'flow_changed', partition_key, namespace, $7,
    jsonb_build_object('graphRevision', graph_revision, 'change', 'edge_added', 'edgeId', $2::uuid)
  from changed
)
select exists (select from owed) as owes
