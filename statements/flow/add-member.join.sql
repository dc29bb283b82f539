-- Made by `npm run sql`; do not edit.
-- flow.add-member.join
-- src/engine/flow/add-member.ts: joinMember
-- 41 lines, 5 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 actor text
--   $3 execution_id uuid
--   $4 member_name text
-- columns:
--   owes bool

with
changed as (
  update flowfabric.ff_flow_core f
  set graph_revision = f.graph_revision + 1,
    member_count = f.member_count + 1,
    edge_count = f.edge_count + 0,
    last_mutation_at_ms = greatest(c.now_ms, f.last_mutation_at_ms)
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
  returning f.flow_id, f.graph_revision, f.partition_key, f.namespace, f.last_mutation_at_ms as now_ms, $2::text as actor
),
marked as (
  update flowfabric.ff_exec_core e
  set flow_id = c.flow_id,
    attached = e.attached | 16 /* flow */,
    last_mutation_at_ms = greatest(c.now_ms, e.last_mutation_at_ms)
  from changed c
  where e.execution_id = any (array[$3::uuid])
),
joined as (
  insert into flowfabric.ff_flow_member (flow_id, execution_id, member_name)
  select flow_id, $3, $4
  from changed
),
-- from src/engine/flow/owe-dispatch.ts: owing
owed as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, c.flow_id, c.now_ms, e.terminal_outcome, false
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
  select now_ms, flow_id, $3, 'flow_changed', partition_key, namespace, actor,
    jsonb_build_object('graphRevision', graph_revision, 'change', 'member_added')
  from changed
)
select exists (select from owed) as owes
