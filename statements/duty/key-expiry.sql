-- Made by `npm run sql`; do not edit.
-- duty.key-expiry
-- src/engine/duties/key-expiry.ts: forget
-- 22 lines, 2 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
-- columns:
--   cleared_count int8

with expired as materialized (
  select k.namespace, k.scope_id, k.idempotency_key
  from flowfabric.ff_idempotency_key k
  where k.expires_at_ms > 0 and k.expires_at_ms <= flowfabric.ff_now_ms()
    and ($2::text is null or k.namespace = $2)
    -- from src/engine/kernel/scope.ts: hasTag
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_exec_tag t
      where t.execution_id = k.execution_id and t.tag_key = $3))
    -- end of hasTag
  order by k.expires_at_ms
  limit $1
  for update skip locked
),
deleted as (
  delete from flowfabric.ff_idempotency_key k
  using expired x
  where k.namespace = any (array[x.namespace]) and k.scope_id = any (array[x.scope_id])
    and k.idempotency_key = any (array[x.idempotency_key])
  returning k.execution_id
)
select count(*) as cleared_count
from deleted
