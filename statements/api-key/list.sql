-- Made by `npm run sql`; do not edit.
-- api-key.list
-- src/engine/api-key/list.ts: listStatement
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text or null
--   $2 key_id text
--   $3 limit int8
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

select k.key_id, k.namespace, k.name, k.scopes, k.requests_per_second, k.created_at_ms, k.created_by,
  k.last_used_at_ms, k.revoked_at_ms, k.expires_at_ms
from flowfabric.ff_api_key k
where k.key_id > $2 and ($1::text is null or k.namespace = $1)
order by k.key_id
limit $3
