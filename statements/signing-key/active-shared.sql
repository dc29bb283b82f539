-- Made by `npm run sql`; do not edit.
-- signing-key.active-shared
-- src/engine/signing-key/keys.ts: readActiveShared
-- 4 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null

select namespace as key_scope, kid as key_kid, expires_at_ms as key_expires_at_ms, is_wrapped as key_is_wrapped,
  secret as key_secret
from flowfabric.ff_waitpoint_hmac
where is_active and namespace = ''
