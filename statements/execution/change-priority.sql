-- Made by `npm run sql`; do not edit.
-- execution.change-priority
-- src/engine/execution/change-priority.ts: changeStatement
-- 49 lines, 7 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 actors text[]
--   $5 new_priority int2[]
-- columns:
--   ordinal int8
--   queue_id int4
--   public_state text
--   priority int2 or null

-- from src/engine/kernel/set-request.ts: inputText
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::int2[])
    with ordinality as i (execution_id, partition_key, namespace, actor, new_priority, ordinal)
),
-- end of inputText
-- from src/engine/transition/operator-set.ts: lockedTarget
target as materialized (
  select e.*, i.ordinal, i.actor, i.new_priority
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
),
-- end of lockedTarget
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
changing as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
  where t.lifecycle_phase <> 'terminal' and t.priority <> t.new_priority
),
changed as (
  update flowfabric.ff_exec_core e
  set priority = c.new_priority, last_mutation_at_ms = greatest(c.now_ms, c.last_mutation_at_ms)
  from changing c
  where e.execution_id = any (array[c.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.priority, e.last_mutation_at_ms,
    c.priority as old_priority, c.actor
),
moved as (
  update flowfabric.ff_ready r
  set neg_priority = -c.new_priority
  from changing c
  where c.eligibility_state = 'eligible_now'
    and r.queue_id = any (array[c.queue_id]) and r.neg_priority = -c.priority
    and r.rank = c.rank and r.execution_id = any (array[c.execution_id])
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'priority_changed', partition_key, namespace, actor,
    jsonb_build_object('from', old_priority, 'to', priority)
  from changed
)
select v.ordinal, v.queue_id, v.public_state, v.priority
from target v
