-- Made by `npm run sql`; do not edit.
-- suspension.read-locked
-- src/engine/waiting/suspension/read-locked.ts: readStatement
-- 31 lines, 1 CTE
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
-- columns:
--   ordinal int8
--   is_held bool
--   is_last_holder bool
--   lease_epoch int8
--   public_state text
--   found_attempt int4
--   interruption text
--   namespace text
--   queue_id int4
--   attached int4
--   is_asked_to_stop bool
--   cancel_deadline_at_ms int8 or null
--   cancellation_reason text or null
--   cancelled_by text or null
--   stop_outcome text
--   now_ms int8
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null
--   last_suspension_id uuid or null
--   last_key text or null
--   last_is_ours bool
--   last_was_at_once bool

with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, ordinal)
)
select i.ordinal,
  coalesce(e.lifecycle_phase = 'active' and e.lease_id = i.given_lease_id
    and e.lease_epoch = i.given_epoch and l.expires_at_ms > k.now_ms, false) as is_held,
  coalesce(e.lease_id = i.given_lease_id and e.lease_epoch = i.given_epoch, false) as is_last_holder,
  e.lease_epoch, e.public_state, e.attempt_index as found_attempt, e.interruption, e.namespace, e.queue_id,
  e.attached, e.cancel_requested_at_ms is not null as is_asked_to_stop, e.cancel_deadline_at_ms, e.cancellation_reason,
  e.cancelled_by, e.stop_outcome, k.now_ms, signing.*,
  s.suspension_id as last_suspension_id, s.idempotency_key as last_key,
  coalesce(s.lease_id = i.given_lease_id and s.lease_epoch = i.given_epoch, false) as last_is_ours,
  coalesce(s.outcome ? 'atOnce', false) as last_was_at_once
from input i
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
left join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
left join flowfabric.ff_suspension_current s on s.execution_id = any (array[e.execution_id])
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
