-- Made by `npm run sql`; do not edit.
-- suspension.record-directly
-- src/engine/waiting/suspension/suspend-directly.ts: recordStatement
-- 142 lines, 8 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 suspension_ids uuid[]
--   $8 reasons text[]
--   $9 timeouts_ms int8[] with nulls
--   $10 timeout_ats_ms int8[] with nulls
--   $11 timeout_behaviours text[]
--   $12 second_timeouts_ms int8[] with nulls
--   $13 second_behaviours text[] with nulls
--   $14 resume_delays_ms int8[] with nulls
--   $15 idempotency_keys text[] with nulls
--   $16 conditions jsonb[]
--   $17 waitpoints jsonb[]
--   $18 fresh_counts int4[]
--   $19 ahead_counts int4[]
--   $20 names jsonb[]
--   $21 wake_ats_ms int8[] with nulls
--   $22 keep_waitpoints bool[]
--   $23 opened_keys text[]
-- columns:
--   ordinal int8
--   namespace text
--   parked_at_ms int8
--   timeout_at_ms int8 or null
--   key_scope text or null
--   kid text or null

with target as materialized (
  select e.execution_id, e.partition_key, e.namespace, e.lifecycle_phase, e.lease_id, e.lease_epoch, e.generation,
    e.attempt_index, e.attached, e.cancel_requested_at_ms, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.suspension_id,
    i.reason, i.timeout_ms, i.given_timeout_at_ms, i.timeout_behaviour, i.second_timeout_ms, i.second_behaviour,
    i.resume_delay_ms, i.idempotency_key, i.condition, i.waitpoints, i.fresh_count, i.ahead_count, i.names, i.wake_at_ms,
    i.keeps_waitpoints
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::uuid[], $8::text[], $9::int8[],
    $10::int8[], $11::text[], $12::int8[], $13::text[], $14::int8[], $15::text[], $16::jsonb[], $17::jsonb[], $18::int4[],
    $19::int4[], $20::jsonb[], $21::int8[], $22::bool[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, suspension_id, reason, timeout_ms,
      given_timeout_at_ms, timeout_behaviour,
      second_timeout_ms, second_behaviour, resume_delay_ms, idempotency_key, condition, waitpoints, fresh_count, ahead_count, names,
      wake_at_ms, keeps_waitpoints, ordinal)
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_core e
    on e.ctid = seen.ctid and e.xmin = seen.xmin
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
parking as materialized (
  select t.*, k.now_ms as parked_at_ms, coalesce(t.given_timeout_at_ms, k.now_ms + t.timeout_ms) as timeout_at_ms,
    signing.key_scope, signing.key_kid as kid
  from target t
  cross join clock k
  join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
  left join flowfabric.ff_suspension_current s on s.execution_id = any (array[t.execution_id])
  -- from src/engine/signing-key/stored-key.ts: signingKeyOf
  left join lateral (
    select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
      k.is_wrapped as key_is_wrapped, k.secret as key_secret
    from flowfabric.ff_waitpoint_hmac k
    where k.namespace = any (array[t.namespace, '']) and k.is_active
    order by k.namespace desc
    limit 1
  ) signing on true
  -- end of signingKeyOf
  where t.lifecycle_phase = 'active' and t.lease_id = t.given_lease_id
    and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms
    and t.cancel_requested_at_ms is null
    and coalesce(t.given_timeout_at_ms > k.now_ms, true)
    and coalesce(t.wake_at_ms > k.now_ms, true)
    and not coalesce(s.idempotency_key = t.idempotency_key and s.lease_id = t.given_lease_id, false)
    and (t.fresh_count = 0 or signing.key_scope || ':' || signing.key_kid = any ($23::text[]))
    and case when t.ahead_count = 0 then true else t.ahead_count = (
      select count(*)
      from jsonb_to_recordset(t.waitpoints) as d (id uuid, key text, is_ahead bool)
      cross join lateral (
        select p.waitpoint_id, p.execution_id, p.waitpoint_key, p.expires_at_ms
        from flowfabric.ff_waitpoint_pending p
        where p.waitpoint_id = d.id and p.state = 'pending' and p.is_made_ahead
        offset 0
      ) p
      where d.is_ahead and p.execution_id = t.execution_id and p.waitpoint_key = d.key
        and (p.expires_at_ms is null or p.expires_at_ms > k.now_ms) and not exists (
          -- from src/engine/transition/untaken-signals.ts: waitingAt
          select g.*
          from flowfabric.ff_signal g
          where g.execution_id = p.execution_id and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = p.waitpoint_id
            and g.taken_at_ms is null
          offset 0)) end
          -- end of waitingAt
    and case when t.attached & 256 /* signals */ = 0 then true else not exists (
      select
      from (
        -- from src/engine/transition/untaken-signals.ts: waitingByName
        select g.*
        from flowfabric.ff_signal g
        where g.execution_id = t.execution_id
          and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
          and g.generation = t.generation and g.taken_at_ms is null
        offset 0
        -- end of waitingByName
      ) g
      where g.suspension_id is null and t.names ? g.signal_name) end
    and case when t.attached & 1 /* waitpoints */ = 0 or not t.keeps_waitpoints then true else not exists (
      select
      from (
        select p.waitpoint_id, p.waitpoint_key
        from flowfabric.ff_waitpoint_pending p
        where p.execution_id = t.execution_id and p.suspension_id is null and p.state = 'pending'
          and not p.is_made_ahead
        offset 0
      ) p
      where t.waitpoints @> jsonb_build_array(jsonb_build_object('key', p.waitpoint_key))) end
),
waitpoint as materialized (
  select p.execution_id, p.suspension_id, p.parked_at_ms, p.partition_key, p.kid, d.*
  from parking p
  cross join lateral jsonb_to_recordset(p.waitpoints) as d (id uuid, key text, names text[], is_ahead bool)
),
recorded as (
  insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, timeout_at_ms, wake_at_ms,
    second_timeout_ms, resume_delay_ms, lease_epoch, lease_id, generation, attempt_index, partition_key, reason_code,
    timeout_behavior, second_behavior, keeps_waitpoints, requested_by, idempotency_key, condition)
  select execution_id, suspension_id, parked_at_ms, timeout_at_ms, wake_at_ms, second_timeout_ms, resume_delay_ms, lease_epoch,
    lease_id, generation, attempt_index, partition_key, reason::flowfabric.ff_suspension_reason,
    timeout_behaviour::flowfabric.ff_timeout_behavior, second_behaviour::flowfabric.ff_timeout_behavior, keeps_waitpoints, actor,
    idempotency_key, condition
  from parking
  -- from src/engine/waiting/suspension/record.ts: inPlaceOfTheLast
  on conflict (execution_id) do update
  set (suspension_id, suspended_at_ms, closed_at_ms, close_reason, timeout_at_ms, wake_at_ms, second_timeout_ms,
    resume_delay_ms, lease_epoch, lease_id, generation, attempt_index, reason_code, timeout_behavior, second_behavior,
    keeps_waitpoints, requested_by, idempotency_key, condition, outcome, signal_nos, escalated_at_ms)
    = (excluded.suspension_id, excluded.suspended_at_ms, excluded.closed_at_ms, excluded.close_reason,
      excluded.timeout_at_ms, excluded.wake_at_ms, excluded.second_timeout_ms, excluded.resume_delay_ms,
      excluded.lease_epoch, excluded.lease_id, excluded.generation, excluded.attempt_index, excluded.reason_code,
      excluded.timeout_behavior, excluded.second_behavior, excluded.keeps_waitpoints, excluded.requested_by, excluded.idempotency_key,
      excluded.condition, excluded.outcome, excluded.signal_nos, null)
  -- end of inPlaceOfTheLast
),
closed as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = k.parked_at_ms, close_reason = 'proactive_close', expires_at_ms = null
  from (
    select p.waitpoint_id, i.parked_at_ms
    from parking i
    cross join lateral (
      select p.waitpoint_id, p.waitpoint_key
      from flowfabric.ff_waitpoint_pending p
      where p.execution_id = i.execution_id and p.suspension_id is null and p.state = 'pending'
        and not p.is_made_ahead
      offset 0
    ) p
    where i.keeps_waitpoints and i.attached & 1 /* waitpoints */ <> 0
  ) k
  where p.waitpoint_id = any (array[k.waitpoint_id])
),
activated as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'active', suspension_id = d.suspension_id, activated_at_ms = d.parked_at_ms, expires_at_ms = null,
    required_signal_names = d.names
  from waitpoint d
  where d.is_ahead and p.waitpoint_id = any (array[d.id])
),
opened as (
  insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
    partition_key, state, waitpoint_key, token_kid, required_signal_names)
  select id, execution_id, suspension_id, parked_at_ms, parked_at_ms, partition_key, 'active', key, kid, names
  from waitpoint
  where not is_ahead
)
select ordinal, namespace, parked_at_ms, timeout_at_ms, key_scope, kid
from parking
