-- Made by `npm run sql`; do not edit.
-- duty.bound-leases
-- src/engine/duties/clock-set-back.ts: boundLeases
-- 20 lines, 2 CTEs
--
-- parameters:
--   $1 before_ms int8
--   $2 before_id uuid
--   $3 limit int8
-- columns:
--   execution_id uuid
--   expires_at_ms int8
--   is_bounded bool

with page as materialized (
  select l.execution_id, l.expires_at_ms, coalesce(l.renewed_at_ms, l.acquired_at_ms) as begins_at_ms
  from flowfabric.ff_lease l
  where l.expires_at_ms > 0 and l.expires_at_ms > flowfabric.ff_now_ms()
    and (l.expires_at_ms, l.execution_id) < ($1, $2)
  order by l.expires_at_ms desc, l.execution_id desc
  limit $3
  for no key update skip locked
),
bounded as (
  update flowfabric.ff_lease l
  set expires_at_ms = flowfabric.ff_now_ms() + p.expires_at_ms - p.begins_at_ms, renewed_at_ms = flowfabric.ff_now_ms()
  from page p
  where l.execution_id = any (array[p.execution_id]) and p.begins_at_ms > flowfabric.ff_now_ms()
  returning l.execution_id
)
select p.execution_id, p.expires_at_ms, b.execution_id is not null as is_bounded
from page p
left join bounded b on b.execution_id = p.execution_id
order by p.expires_at_ms desc, p.execution_id desc
