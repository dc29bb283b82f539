-- Made by `npm run sql`; do not edit.
-- execution.count
-- src/engine/execution/count.ts: countStatement
-- 79 lines, 1 CTE
--
-- parameters:
--   $1 namespace text or null
--   $2 lane text or null
--   $3 kind text or null
--   $4 stop int8
-- columns:
--   public_state text
--   count int8

with queue as materialized (
  select q.queue_id
  from flowfabric.ff_queue q
  where
    -- from src/engine/execution/list/source.ts: queueCondition
    ($1::text is null or q.namespace = $1)
    and ($2::text is null or q.lane_id = $2)
    and ($3::text is null or q.execution_kind = $3)
    -- end of queueCondition
)
select 'waiting'::flowfabric.ff_public_state as public_state, count(*) as count
from (
  select from queue
  cross join lateral (
    select from flowfabric.ff_ready r where r.queue_id = queue.queue_id and not r.resumed limit $4
  ) r
  limit $4
) s
union all
select 'resumable', count(*)
from (
  select from queue
  cross join lateral (
    select from flowfabric.ff_ready r where r.queue_id = queue.queue_id and r.resumed limit $4
  ) r
  limit $4
) s
union all
select 'delayed', count(*)
from (
  select from queue
  cross join lateral (
    select from flowfabric.ff_exec_core e where e.queue_id = queue.queue_id and e.delay_until_ms is not null limit $4
  ) e
  limit $4
) s
union all
select 'active', count(*)
from (
  select from flowfabric.ff_lease l
  join flowfabric.ff_exec_core e on e.execution_id = any (array[l.execution_id])
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  -- Every lease has expired or will expire.
  where l.expires_at_ms > 0 and
    -- from src/engine/execution/list/source.ts: queueCondition
    ($1::text is null or q.namespace = $1)
    and ($2::text is null or q.lane_id = $2)
    and ($3::text is null or q.execution_kind = $3)
    -- end of queueCondition
  limit $4
) s
union all
select parked.state, s.count
from unnest('{waiting,waiting_children,rate_limited,suspended}'::flowfabric.ff_public_state[]) as parked (state)
cross join lateral (
  select count(*) as count
  from (
    select from queue
    cross join lateral (
      select from flowfabric.ff_exec_core e
      where e.queue_id = queue.queue_id and e.parked_state = parked.state and e.parked_at_ms is not null
      limit $4
    ) e
    limit $4
  ) one
) s
union all
select ending.public_state, s.count
from (values
    ('success'::flowfabric.ff_terminal_outcome, 'completed'::flowfabric.ff_public_state),
    ('failed', 'failed'), ('cancelled', 'cancelled'), ('expired', 'expired'), ('skipped', 'skipped')
) ending (terminal_outcome, public_state)
cross join lateral (
  select count(*) as count
  from (
    select from queue
    cross join lateral (
      select from flowfabric.ff_exec_core e
      where e.queue_id = queue.queue_id and e.terminal_outcome = ending.terminal_outcome and e.terminal_at_ms is not null
      limit $4
    ) e
    limit $4
  ) one
) s
