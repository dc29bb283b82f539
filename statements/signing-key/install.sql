-- Made by `npm run sql`; do not edit.
-- signing-key.install
-- src/engine/signing-key/keys-of-scope.ts: insertKey
-- 9 lines, 1 CTE
--
-- parameters:
--   $1 namespace text
--   $2 kid text
--   $3 now_ms int8
--   $4 is_wrapped bool
--   $5 secret bytea
--   $6 actor text
--   $7 previous_kid text or null
-- columns: none

with installed as (
  insert into flowfabric.ff_waitpoint_hmac (namespace, kid, created_at_ms, is_active, is_wrapped, secret)
  values ($1, $2, $3, true, $4, $5)
  returning namespace, kid, created_at_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select created_at_ms, 'key_rotated', 0, namespace, $6,
  jsonb_strip_nulls(jsonb_build_object('kid', kid, 'previousKid', $7::text))
from installed
