-- Made by `npm run sql`; do not edit.
-- signing-key.list
-- src/engine/signing-key/list.ts: listStatement
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
-- columns:
--   namespace text
--   kid text
--   is_active bool
--   created_at_ms int8
--   expires_at_ms int8 or null

select namespace, kid, is_active, created_at_ms, expires_at_ms
from flowfabric.ff_waitpoint_hmac
where namespace = any (array[$1, ''])
  and secret is not null
  and (is_active or expires_at_ms >= flowfabric.ff_now_ms())
order by namespace desc, is_active desc, created_at_ms desc, kid
