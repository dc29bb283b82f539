-- Made by `npm run sql`; do not edit.
-- signing-key.make-first
-- src/engine/signing-key/keys.ts: makeFirst
-- 10 lines, 1 CTE
--
-- parameters:
--   $1 kid text
--   $2 is_wrapped bool
--   $3 secret bytea
-- columns: none

with made as (
  insert into flowfabric.ff_waitpoint_hmac (namespace, kid, created_at_ms, is_active, is_wrapped, secret)
  select '', $1, flowfabric.ff_now_ms(), true, $2, $3
  where not exists (select from flowfabric.ff_waitpoint_hmac where kid = $1)
  on conflict do nothing
  returning namespace, kid, created_at_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select created_at_ms, 'key_rotated', 0, namespace, 'system', jsonb_build_object('kid', kid)
from made
