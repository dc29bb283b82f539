-- Made by `npm run sql`; do not edit.
-- signing-key.retire
-- src/engine/signing-key/rotate.ts: retireStatement
-- 13 lines, 2 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 expires_at_ms int8
--   $3 now_ms int8
-- columns:
--   removed_count int8

with retired as (
  update flowfabric.ff_waitpoint_hmac
  set is_active = false, expires_at_ms = $2
  where namespace = $1 and is_active
),
removed as (
  update flowfabric.ff_waitpoint_hmac
  set secret = null, is_wrapped = false
  where namespace = $1 and expires_at_ms < $3 and secret is not null
  returning kid
)
select count(*) as removed_count
from removed
