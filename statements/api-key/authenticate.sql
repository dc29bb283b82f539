-- Made by `npm run sql`; do not edit.
-- api-key.authenticate
-- src/engine/api-key/authenticate.ts: authenticateStatement
-- 14 lines, 1 CTE
--
-- parameters:
--   $1 key_id text
--   $2 secret_hash bytea
--   $3 namespace text or null
-- columns:
--   key_id text
--   namespace text
--   name text
--   scopes text[]
--   requests_per_second int4 or null
--   created_at_ms int8
--   created_by text
--   last_used_at_ms int8 or null
--   revoked_at_ms int8 or null
--   expires_at_ms int8 or null
--   secret_hash bytea

with used as (
  update flowfabric.ff_api_key k
  set last_used_at_ms = flowfabric.ff_now_ms()
  where k.key_id = $1
    and k.secret_hash = $2
    and (k.revoked_at_ms is null and coalesce(k.expires_at_ms >= flowfabric.ff_now_ms(), true))
    and ($3::text is null or k.namespace = $3)
    and coalesce(k.last_used_at_ms, 0) < flowfabric.ff_now_ms() - 60000
)
select k.key_id, k.namespace, k.name, k.scopes, k.requests_per_second, k.created_at_ms, k.created_by,
  k.last_used_at_ms, k.revoked_at_ms, k.expires_at_ms, k.secret_hash
from flowfabric.ff_api_key k
where k.key_id = $1 and (k.revoked_at_ms is null and coalesce(k.expires_at_ms >= flowfabric.ff_now_ms(), true))
  and ($3::text is null or k.namespace = $3)
