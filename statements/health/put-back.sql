-- Made by `npm run sql`; do not edit.
-- health.put-back
-- src/engine/health/repair.ts: putBack
-- 19 lines, 2 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   partition_key int2

with stranded as materialized (
  select e.queue_id, e.priority, e.rank, e.execution_id, e.partition_key, e.public_state
  from flowfabric.ff_exec_core e
  where e.execution_id = any ($1) and e.lifecycle_phase = 'runnable' and e.eligibility_state = 'eligible_now'
    and not exists (
      select
      from flowfabric.ff_ready r
      where r.queue_id = e.queue_id and r.neg_priority = -e.priority and r.rank = e.rank
        and r.execution_id = e.execution_id)
    and not exists (
      select from flowfabric.ff_cancel_backlog b where b.execution_id = e.execution_id and b.generation = e.generation)
),
put as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, public_state = 'resumable', rank, execution_id
  from stranded
)
select execution_id, partition_key
from stranded
