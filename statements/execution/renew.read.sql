-- Made by `npm run sql`; do not edit.
-- execution.renew.read
-- src/engine/execution/renew.ts: readLeases
-- 12 lines, 0 CTEs
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
--   expires_at_ms int8 or null
--   cancel_requested bool

select i.ordinal, coalesce(l.expires_at_ms > flowfabric.ff_now_ms(), false) as is_held,
  coalesce(e.lease_id = i.given_lease_id and e.lease_epoch = i.given_epoch, false) as is_last_holder, e.lease_epoch,
  e.public_state, e.attempt_index as found_attempt, e.interruption, l.expires_at_ms,
  e.cancel_requested_at_ms is not null as cancel_requested
from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[])
  with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, ordinal)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
left join flowfabric.ff_lease l
  on l.execution_id = any (array[i.execution_id]) and l.lease_id = i.given_lease_id and l.lease_epoch = i.given_epoch
