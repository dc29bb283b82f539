-- Made by `npm run sql`; do not edit.
-- signing-key.by-kid
-- src/engine/signing-key/keys.ts: readKey
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 kid text
-- columns:
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null

select k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret
from (select 1) one
-- from src/engine/signing-key/stored-key.ts: keyByKid
left join lateral (
  select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[$1::text, '']) and k.kid = $2::text and k.secret is not null
  limit 1
) k on true
-- end of keyByKid
