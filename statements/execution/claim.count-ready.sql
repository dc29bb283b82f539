-- Made by `npm run sql`; do not edit.
-- execution.claim.count-ready
-- src/engine/execution/claim.ts: countReady
-- 25 lines, 1 CTE
--
-- parameters:
--   $1 queue_ids int4[]
--   $2 most int8
-- columns:
--   ready int8
--   has_claimable bool

with few as materialized (
  select each.execution_id
  from unnest($1::int4[]) as q (queue_id)
  cross join lateral (
    select r.execution_id
    from flowfabric.ff_ready r
    where r.queue_id = q.queue_id
    limit $2
  ) each
  limit $2
)
select count(*) as ready, exists (
  select
  from few f
  join flowfabric.ff_exec_core e on e.execution_id = any (array[f.execution_id])
  where e.eligibility_state = 'eligible_now'
    and (e.attached & 128 /* grant */ = 0 or not exists (
      select from flowfabric.ff_grant g
      where g.execution_id = any (array[e.execution_id]) and g.expires_at_ms > flowfabric.ff_now_ms()))
    and not (e.attached & 16 /* flow */ <> 0 and e.cancel_requested_at_ms is null and exists (
      select from flowfabric.ff_flow_core f
      where f.flow_id = any (array[e.flow_id])
        and coalesce(f.cancel_policy = 'cancel_all' or f.cancel_policy = 'cancel_pending' and e.started_at_ms is null, false)))
) as has_claimable
from few
