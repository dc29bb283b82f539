-- Made by `npm run sql`; do not edit.
-- duty.grant-expiry
-- src/engine/duties/grant-expiry.ts: forget
-- 24 lines, 2 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
-- columns:
--   cleared_count int8

with expired as materialized (
  select g.execution_id
  from flowfabric.ff_grant g
  where g.expires_at_ms > 0 and g.expires_at_ms <= flowfabric.ff_now_ms()
    and ($2::text is null or $2 = (
      select e.namespace
      from flowfabric.ff_exec_core e
      where e.execution_id = any (array[g.execution_id])))
    -- from src/engine/kernel/scope.ts: hasTag
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_exec_tag t
      where t.execution_id = g.execution_id and t.tag_key = $3))
    -- end of hasTag
  order by g.expires_at_ms
  limit $1
  for update skip locked
),
deleted as (
  delete from flowfabric.ff_grant g
  using expired x
  where g.execution_id = any (array[x.execution_id])
  returning g.execution_id
)
select count(*) as cleared_count
from deleted
