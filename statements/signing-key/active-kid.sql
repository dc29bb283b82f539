-- Made by `npm run sql`; do not edit.
-- signing-key.active-kid
-- src/engine/signing-key/keys-of-scope.ts: readActiveKid
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
-- columns:
--   now_ms int8
--   kid text or null

select c.now_ms, k.kid
from (select flowfabric.ff_now_ms() as now_ms) c
left join flowfabric.ff_waitpoint_hmac k on k.is_active and k.namespace = $1
