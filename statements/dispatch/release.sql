-- Made by `npm run sql`; do not edit.
-- dispatch.release
-- src/engine/dispatch/release-members.ts: release
-- 33 lines, 4 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 now_ms int8
-- columns:
--   ready_queue_ids int4[]
--   shortest_delay_ms int8 or null

with releasing as materialized (
  select e.execution_id, case when n.delay_until_ms > $2 then n.delay_until_ms end as due_ms
  from unnest($1::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
),
released as (
  update flowfabric.ff_exec_core e
  set eligibility_state = case when r.due_ms is not null then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
    else 'eligible_now'::flowfabric.ff_eligibility_state end,
    delay_until_ms = r.due_ms,
    parked_at_ms = null,
    parked_state = null,
    last_mutation_at_ms = greatest($2, e.last_mutation_at_ms)
  from releasing r
  where e.execution_id = any (array[r.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.queue_id, e.priority, e.rank,
    e.last_mutation_at_ms, r.due_ms
),
readied as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from released
  where due_ms is null
  returning queue_id
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'unblocked', partition_key, namespace, 'dispatch'
  from released
)
select coalesce((select array_agg(distinct queue_id) from readied), '{}'::int4[]) as ready_queue_ids,
  (select min(due_ms) - $2 from released) as shortest_delay_ms
