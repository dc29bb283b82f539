-- Made by `npm run sql`; do not edit.
-- duty.delayed-promoter
-- src/engine/duties/delayed-promoter.ts: promote
-- 19 lines, 2 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   queue_id int4

with target as materialized (
  select e.execution_id, e.delay_until_ms, k.now_ms
  from unnest($1::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
),
promoted as (
  update flowfabric.ff_exec_core e
  set eligibility_state = 'eligible_now',
    delay_until_ms = null,
    last_mutation_at_ms = greatest(t.now_ms, e.last_mutation_at_ms)
  from target t
  where e.execution_id = any (array[t.execution_id]) and t.delay_until_ms <= t.now_ms
  returning e.execution_id, e.queue_id, e.priority, e.rank, e.public_state
)
insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
select queue_id, -priority, public_state = 'resumable', rank, execution_id
from promoted
returning queue_id
