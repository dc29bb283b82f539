-- Made by `npm run sql`; do not edit.
-- api-key.create
-- src/engine/api-key/create.ts: createStatement
-- 15 lines, 2 CTEs
--
-- parameters:
--   $1 key_id text
--   $2 namespace text
--   $3 name text
--   $4 scopes text[]
--   $5 secret_hash bytea
--   $6 requests_per_second int4 or null
--   $7 actor text
--   $8 expires_at_ms int8 or null
-- columns:
--   now_ms int8

with created as (
  insert into flowfabric.ff_api_key (key_id, namespace, name, scopes, secret_hash, requests_per_second, created_at_ms,
    created_by, expires_at_ms)
  select $1, $2, $3, $4, $5, $6, flowfabric.ff_now_ms(), $7, $8
  where coalesce($8 >= flowfabric.ff_now_ms(), true)
  on conflict do nothing
  returning key_id, namespace, name, scopes, created_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select created_at_ms, 'api_key_created', 0, namespace, $7,
    jsonb_build_object('keyId', key_id, 'name', name, 'scopes', scopes)
  from created
)
select flowfabric.ff_now_ms() as now_ms
