-- Made by `npm run sql`; do not edit.
-- suspension.read-locked.waitpoints
-- src/engine/waiting/suspension/read-locked.ts: pendingStatement
-- 24 lines, 1 CTE
--
-- parameters:
--   $1 waitpoint_ids uuid[]
--   $2 keeper_ids uuid[]
-- columns:
--   waitpoint_id uuid
--   execution_id uuid
--   waitpoint_key text
--   state text
--   is_made_ahead bool
--   close_reason text or null
--   created_at_ms int8
--   expires_at_ms int8 or null
--   token_kid text
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null

with asked as materialized (
  select unnest($1::uuid[]) as waitpoint_id
  union
  select p.waitpoint_id
  from unnest($2::uuid[]) as i (execution_id)
  cross join lateral (
    select p.waitpoint_id
    from flowfabric.ff_waitpoint_pending p
    where p.execution_id = i.execution_id and p.suspension_id is null and p.state = 'pending' and not p.is_made_ahead
    offset 0
  ) p
)
select p.waitpoint_id, p.execution_id, p.waitpoint_key, p.state, p.is_made_ahead, p.close_reason, p.created_at_ms,
  p.expires_at_ms, p.token_kid, k.*
from asked i
join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = any (array[i.waitpoint_id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
-- from src/engine/signing-key/stored-key.ts: keyByKid
left join lateral (
  select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[e.namespace, '']) and k.kid = p.token_kid and k.secret is not null
  limit 1
) k on true
-- end of keyByKid
