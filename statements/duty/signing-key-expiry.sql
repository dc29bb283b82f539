-- Made by `npm run sql`; do not edit.
-- duty.signing-key-expiry
-- src/engine/duties/signing-key-expiry.ts: wipe
-- 17 lines, 2 CTEs
--
-- parameters:
--   $1 batch int8
-- columns:
--   wiped_count int8

with expired as materialized (
  select k.namespace, k.kid
  from flowfabric.ff_waitpoint_hmac k
  where k.expires_at_ms < flowfabric.ff_now_ms() and k.secret is not null
  order by k.expires_at_ms
  limit $1
  for no key update skip locked
),
wiped as (
  update flowfabric.ff_waitpoint_hmac k
  set secret = null, is_wrapped = false
  from expired x
  where k.namespace = any (array[x.namespace]) and k.kid = any (array[x.kid])
  returning k.kid
)
select count(*) as wiped_count
from wiped
