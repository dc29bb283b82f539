-- Made by `npm run sql`; do not edit.
-- dispatch.start-nested
-- src/engine/dispatch/release-members.ts: start
-- 15 lines, 2 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 now_ms int8
-- columns: none

with started as (
  update flowfabric.ff_exec_core e
  set started_at_ms = $2, delay_until_ms = null, last_mutation_at_ms = greatest($2, e.last_mutation_at_ms)
  from unnest($1::uuid[]) as i (execution_id)
  where e.execution_id = any (array[i.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.last_mutation_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'unblocked', partition_key, namespace, 'dispatch'
  from started
)
insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome)
select execution_id, generation, flow_id, last_mutation_at_ms, 'none'
from started
