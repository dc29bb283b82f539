-- Made by `npm run sql`; do not edit.
-- waitpoint.describe-link
-- src/engine/waiting/waitpoint/describe-link.ts: describeStatement
-- 25 lines, 0 CTEs
--
-- parameters:
--   $1 waitpoint_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 kid text
--   $5 idempotency_key text
-- columns:
--   now_ms int8
--   execution_id uuid
--   namespace text
--   lane_id text
--   execution_kind text
--   waitpoint_key text
--   state text
--   creator_identity text
--   payload bytea or null
--   payload_encoding text or null
--   reason_code text
--   suspended_at_ms int8 or null
--   timeout_at_ms int8 or null
--   used_name text or null
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null

select flowfabric.ff_now_ms() as now_ms, e.execution_id, e.namespace, q.lane_id, q.execution_kind, p.waitpoint_key,
  case when p.state = 'pending' and p.expires_at_ms <= flowfabric.ff_now_ms() then 'closed' else p.state end as state,
  n.creator_identity, n.payload, n.payload_encoding, s.reason_code, s.suspended_at_ms, s.timeout_at_ms,
  g.signal_name as used_name, k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret
from flowfabric.ff_waitpoint_pending p
join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
join flowfabric.ff_exec_input n
  on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])
-- from src/engine/signing-key/stored-key.ts: keyByKid
left join lateral (
  select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[e.namespace, '']) and k.kid = $4 and k.secret is not null
  limit 1
) k on true
-- end of keyByKid
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[e.execution_id]) and s.suspension_id = p.suspension_id and s.closed_at_ms is null
left join lateral (
  select g.signal_name
  from flowfabric.ff_signal g
  where g.execution_id = e.execution_id and g.idempotency_key = $5 and g.waitpoint_id = p.waitpoint_id
  offset 0
) g on true
where p.waitpoint_id = $1 and p.partition_key = $2 and ($3::text is null or e.namespace = $3)
