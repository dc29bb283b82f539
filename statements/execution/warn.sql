-- Made by `npm run sql`; do not edit.
-- execution.warn
-- src/engine/execution/warn.ts: warnStatement
-- 54 lines, 6 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 reason text[]
--   $8 details jsonb[] with nulls
-- columns:
--   ordinal int8
--   is_held bool
--   is_last_holder bool
--   lease_epoch int8
--   public_state text
--   found_attempt int4
--   interruption text
--   pending_dispatch int4

-- from src/engine/kernel/set-request.ts: inputText
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[], $8::jsonb[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, reason, details, ordinal)
),
-- end of inputText
-- from src/engine/transition/fence.ts: fenced
target as materialized (
  select e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.interruption, e.public_state,
    e.attempt_index as found_attempt, e.attached, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.reason, i.details
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
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, attempt_index, details)
  select v.now_ms, e.execution_id, e.flow_id, e.generation, 'warned', e.partition_key, e.namespace, v.actor, v.reason,
    e.attempt_index, v.details
  from checked v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  where v.is_held
),
-- from src/engine/transition/fenced-answer.ts: writtenAnswer
written as materialized (
  select count(*) = cardinality($1::uuid[]) as is_whole, bit_or(attached & 112 /* flow | parent | children */) as pending_dispatch
  from checked
  where is_held
)
select 0::int8 as ordinal, true as is_held, true as is_last_holder, null::int8 as lease_epoch,
  null::flowfabric.ff_public_state as public_state, null::int4 as found_attempt,
  null::flowfabric.ff_interruption as interruption, pending_dispatch
from written
where is_whole
union all
select v.ordinal, v.is_held, v.is_last_holder, v.lease_epoch, v.public_state, v.found_attempt, v.interruption,
  v.attached & 112 /* flow | parent | children */ as pending_dispatch
from checked v
where not (select is_whole from written)
-- end of writtenAnswer
