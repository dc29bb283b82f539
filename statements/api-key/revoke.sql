-- Made by `npm run sql`; do not edit.
-- api-key.revoke
-- src/engine/api-key/revoke.ts: revokeStatement
-- 20 lines, 3 CTEs
--
-- parameters:
--   $1 key_id text
--   $2 namespace text or null
--   $3 actor text
-- columns:
--   was_revoked bool
--   revoked_at_ms int8

with found as materialized (
  select k.key_id, k.revoked_at_ms, flowfabric.ff_now_ms() as now_ms
  from flowfabric.ff_api_key k
  where k.key_id = $1 and ($2::text is null or k.namespace = $2)
  for update
),
revoked as (
  update flowfabric.ff_api_key k
  set revoked_at_ms = f.now_ms
  from found f
  where k.key_id = any (array[f.key_id]) and f.revoked_at_ms is null
  returning k.namespace, k.key_id, k.name, k.revoked_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select revoked_at_ms, 'api_key_revoked', 0, namespace, $3, jsonb_build_object('keyId', key_id, 'name', name)
  from revoked
)
select revoked_at_ms is not null as was_revoked, coalesce(revoked_at_ms, now_ms) as revoked_at_ms
from found
