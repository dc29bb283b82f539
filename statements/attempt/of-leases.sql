-- Made by `npm run sql`; do not edit.
-- attempt.of-leases
-- src/engine/transition/lease-record.ts: recordsOfLeases
-- 11 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 lease_ids uuid[]
--   $3 lease_epochs int8[]
-- columns:
--   ordinal int8
--   outcome text or null
--   failure_category text or null
--   next_at_ms int8 or null
--   left_as text or null
--   left_at_ms int8 or null
--   cancel_requested bool

select i.ordinal, a.outcome, a.failure_category, a.next_at_ms, h.left_as, h.left_at_ms, h.cancel_requested
from unnest($1::uuid[], $2::uuid[], $3::int8[]) with ordinality as i (execution_id, lease_id, lease_epoch, ordinal)
left join flowfabric.ff_attempt a
  on a.execution_id = any (array[i.execution_id]) and a.lease_id = i.lease_id and a.lease_epoch = i.lease_epoch
cross join lateral (
  select max(v.event_type::text) filter (where v.lease_effect in ('expired', 'revoked')) as left_as,
    max(v.occurred_at_ms) filter (where v.lease_effect in ('expired', 'revoked')) as left_at_ms,
    coalesce(bool_or(v.event_type = 'cancel_requested'), false) as cancel_requested
  from flowfabric.ff_event v
  where v.execution_id = any (array[i.execution_id]) and v.lease_id = i.lease_id and v.lease_epoch = i.lease_epoch
) h
