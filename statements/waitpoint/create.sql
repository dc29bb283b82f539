-- Made by `npm run sql`; do not edit.
-- waitpoint.create
-- src/engine/waiting/waitpoint/create.ts: createStatement
-- 76 lines, 8 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 waitpoint_key text[]
--   $8 expires_in_ms int8[] with nulls
--   $9 waitpoint_id uuid[]
--   $10 opened_keys text[]
-- columns:
--   ordinal int8
--   is_held bool
--   is_last_holder bool
--   lease_epoch int8
--   public_state text
--   found_attempt int4
--   interruption text
--   pending_dispatch int4
--   owner_namespace text or null
--   made_at_ms int8 or null
--   expires_at_ms int8 or null
--   kid text or null
--   is_made bool or null
--   has_room bool or null
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null

-- from src/engine/kernel/set-request.ts: inputText
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[], $8::int8[], $9::uuid[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, waitpoint_key, expires_in_ms,
      waitpoint_id, ordinal)
),
-- end of inputText
-- from src/engine/transition/fence.ts: fenced
target as materialized (
  select e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.interruption, e.public_state,
    e.attempt_index as found_attempt, e.attached, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.waitpoint_key, i.expires_in_ms,
    i.waitpoint_id
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  order by i.execution_id
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
checked as materialized (
  select t.*, k.now_ms,
    coalesce(t.lease_id = t.given_lease_id and t.lease_epoch = t.given_epoch, false) as is_last_holder,
    coalesce(t.lifecycle_phase = 'active' and t.lease_id = t.given_lease_id
      and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms, false) as is_held
  from target t
  cross join clock k
  left join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
),
-- end of fenced
found as materialized (
  select v.*, e.partition_key, e.namespace as owner_namespace, p.waitpoint_id is not null as is_there,
    coalesce(p.created_at_ms, v.now_ms) as made_at_ms,
    case when p.waitpoint_id is null then v.now_ms + v.expires_in_ms else p.expires_at_ms end as expires_at_ms,
    coalesce(p.token_kid, signing.key_kid) as kid, signing.*,
    coalesce(signing.key_scope || ':' || signing.key_kid = any ($10::text[]), false) as is_opened,
    case when v.attached & 1 /* waitpoints */ = 0 then 0 else (
      select count(*)
      from flowfabric.ff_waitpoint_pending o
      where o.execution_id = any (array[v.execution_id]) and o.suspension_id is null and o.state = 'pending'
    ) end + row_number() over (partition by v.execution_id order by v.ordinal) <= 1000 as has_room
  from checked v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  left join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = any (array[v.waitpoint_id])
  -- from src/engine/signing-key/stored-key.ts: signingKeyOf
  left join lateral (
    select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
      k.is_wrapped as key_is_wrapped, k.secret as key_secret
    from flowfabric.ff_waitpoint_hmac k
    where k.namespace = any (array[e.namespace, '']) and k.is_active
    order by k.namespace desc
    limit 1
  ) signing on true
  -- end of signingKeyOf
),
made as materialized (
  select *, is_held and (is_there or is_opened and has_room) as is_made
  from found
),
-- The row is written each time, so that no ending and no restart decides by a snapshot from before the waitpoint.
attached as (
  update flowfabric.ff_exec_core e
  set attached = e.attached | 1 /* waitpoints */
  from made m
  where e.execution_id = any (array[m.execution_id]) and m.is_made and not m.is_there
),
inserted as (
  insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, created_at_ms, expires_at_ms, partition_key,
    state, is_made_ahead, waitpoint_key, token_kid)
  select waitpoint_id, execution_id, made_at_ms, expires_at_ms, partition_key, 'pending', true, waitpoint_key, kid
  from made
  where is_made and not is_there
)
-- from src/engine/transition/fenced-answer.ts: fencedAnswer
select v.ordinal, v.is_held, v.is_last_holder, v.lease_epoch, v.public_state, v.found_attempt, v.interruption,
  v.attached & 112 /* flow | parent | children */ as pending_dispatch, v.owner_namespace, v.made_at_ms, v.expires_at_ms, v.kid, v.is_made,
  v.has_room, v.key_scope, v.key_kid, v.key_expires_at_ms, v.key_is_wrapped, v.key_secret
from made v
-- end of fencedAnswer
