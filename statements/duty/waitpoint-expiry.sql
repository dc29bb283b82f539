-- Made by `npm run sql`; do not edit.
-- duty.waitpoint-expiry
-- src/engine/duties/waitpoint-expiry.ts: close
-- 23 lines, 2 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
-- columns:
--   cleared_count int8

with expired as materialized (
  select p.waitpoint_id
  from flowfabric.ff_waitpoint_pending p
  join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
  where p.expires_at_ms <= flowfabric.ff_now_ms() and p.state = 'pending'
    and ($2::text is null or e.namespace = $2)
    -- from src/engine/kernel/scope.ts: hasTag
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_exec_tag t
      where t.execution_id = p.execution_id and t.tag_key = $3))
    -- end of hasTag
  order by p.expires_at_ms, p.waitpoint_id
  limit $1
  for no key update of e, p skip locked
),
closed as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = flowfabric.ff_now_ms(), close_reason = 'never_committed', expires_at_ms = null
  from expired x
  where p.waitpoint_id = any (array[x.waitpoint_id])
  returning p.waitpoint_id
)
select count(*) as cleared_count
from closed
