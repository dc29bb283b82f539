-- Made by `npm run sql`; do not edit.
-- waitpoint.link
-- src/engine/waiting/waitpoint/link.ts: findStatement
-- 19 lines, 1 CTE
--
-- parameters:
--   $1 waitpoint_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 expires_in_ms int8
-- columns:
--   execution_id uuid
--   state text
--   now_ms int8
--   expires_at_ms int8
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null

with found as materialized (
  select e.execution_id, e.namespace,
    case when p.state = 'pending' and p.expires_at_ms <= flowfabric.ff_now_ms() then 'closed' else p.state end as state,
    flowfabric.ff_now_ms() as now_ms
  from flowfabric.ff_waitpoint_pending p
  join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
  where p.waitpoint_id = $1 and p.partition_key = $2 and ($3::text is null or e.namespace = $3)
  for key share of e
)
select f.execution_id, f.state, f.now_ms, f.now_ms + $4 as expires_at_ms, signing.*
from found f
-- from src/engine/signing-key/stored-key.ts: signingKeyOf
left join lateral (
  select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[f.namespace, '']) and k.is_active
  order by k.namespace desc
  limit 1
) signing on true
-- end of signingKeyOf
