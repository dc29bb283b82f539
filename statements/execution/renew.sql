-- Made by `npm run sql`; do not edit.
-- execution.renew
-- src/engine/execution/renew.ts: renewStatement
-- 40 lines, 5 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 lease_ttl_ms int8
--   $8 started bool[]
-- columns:
--   ordinal int8
--   expires_at_ms int8
--   cancel_requested bool

with held as materialized (
  select l.execution_id, i.ordinal, i.actor, e.partition_key, e.namespace, e.flow_id, e.generation,
    e.cancel_requested_at_ms is not null as cancel_requested, i.started
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $8::bool[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, started, ordinal)
  join flowfabric.ff_lease l
    on l.execution_id = any (array[i.execution_id]) and l.lease_id = i.given_lease_id and l.lease_epoch = i.given_epoch
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  order by i.execution_id
  for no key update of l skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from held
  having count(*) >= 0
),
-- end of clockAfter
held_now as materialized (
  select h.*, c.now_ms
  from held h
  cross join clock c
),
renewed as (
  update flowfabric.ff_lease l
  set expires_at_ms = k.now_ms + $7, renewed_at_ms = k.now_ms, is_started = l.is_started or k.started
  from held_now k
  where l.execution_id = any (array[k.execution_id]) and l.expires_at_ms > k.now_ms
  returning k.*, l.lease_id, l.lease_epoch, l.attempt_index, l.worker_instance_id, l.expires_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id)
  select now_ms, execution_id, flow_id, generation, 'renewed', partition_key, namespace, actor, 'renewed', lease_id,
    lease_epoch, attempt_index, worker_instance_id
  from renewed
)
select ordinal, expires_at_ms, cancel_requested
from renewed
