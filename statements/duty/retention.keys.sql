-- Made by `npm run sql`; do not edit.
-- duty.retention.keys
-- src/engine/duties/delete-executions.ts: deleteKeys
-- 6 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 namespaces text[]
--   $3 flow_ids uuid[] with nulls
--   $4 parent_ids uuid[] with nulls
--   $5 schedule_ids uuid[] with nulls
--   $6 idempotency_keys text[]
-- columns: none

delete from flowfabric.ff_idempotency_key k
using unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::text[])
  as e (execution_id, namespace, flow_id, parent_id, schedule_id, idempotency_key)
where k.namespace = any (array[e.namespace])
  and k.scope_id = any (array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[])
  and k.idempotency_key = any (array[e.idempotency_key]) and k.execution_id = e.execution_id
