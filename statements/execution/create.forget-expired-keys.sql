-- Made by `npm run sql`; do not edit.
-- execution.create.forget-expired-keys
-- src/engine/execution/forget-keys.ts: forget
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 namespaces text[]
--   $2 scope_ids uuid[]
--   $3 keys text[]
-- columns: none

delete from flowfabric.ff_idempotency_key k
using unnest($1::text[], $2::uuid[], $3::text[]) as i (namespace, scope_id, idempotency_key)
where k.namespace = any (array[i.namespace])
  and k.scope_id = any (array[i.scope_id])
  and k.idempotency_key = any (array[i.idempotency_key])
  and k.expires_at_ms <= flowfabric.ff_now_ms()
