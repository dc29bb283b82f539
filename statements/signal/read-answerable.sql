-- Made by `npm run sql`; do not edit.
-- signal.read-answerable
-- src/engine/waiting/signal/answerable.ts: readStatement
-- 23 lines, 0 CTEs
--
-- parameters:
--   $1 waitpoint_ids uuid[] with nulls
--   $2 execution_ids uuid[] with nulls
--   $3 partition_keys int2[]
--   $4 namespaces text[] with nulls
--   $5 kids text[] with nulls
-- columns:
--   ordinal int8
--   now_ms int8
--   execution_id uuid
--   suspension_id uuid or null
--   condition jsonb or null
--   waitpoint_key text or null
--   waitpoint_created_at_ms int8 or null
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null

select i.ordinal, t.now_ms, e.execution_id, s.suspension_id, s.condition, p.waitpoint_key,
  p.created_at_ms as waitpoint_created_at_ms, k.*
from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[], $5::text[])
  with ordinality as i (waitpoint_id, execution_id, partition_key, namespace, kid, ordinal)
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) t
left join flowfabric.ff_waitpoint_pending p
  on p.waitpoint_id = any (array[i.waitpoint_id]) and p.partition_key = i.partition_key
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[coalesce(i.execution_id, p.execution_id)])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
-- from src/engine/signing-key/stored-key.ts: keyByKid
left join lateral (
  select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[e.namespace, '']) and k.kid = i.kid and k.secret is not null
  limit 1
) k on true
-- end of keyByKid
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[e.execution_id])
  and (p.waitpoint_id is null or p.suspension_id = s.suspension_id)
  and s.closed_at_ms is null
  and pg_column_size(s.condition) <= 2048
