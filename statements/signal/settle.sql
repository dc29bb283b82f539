-- Made by `npm run sql`; do not edit.
-- signal.settle
-- src/engine/waiting/signal/settle.ts: settleStatement
-- 144 lines, 10 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 suspension_ids uuid[]
--   $3 waitpoint_ids uuid[] with nulls
--   $4 waitpoint_keys text[] with nulls
--   $5 key_scopes text[] with nulls
--   $6 kids text[] with nulls
--   $7 signal_ids uuid[]
--   $8 names text[]
--   $9 categories text[]
--   $10 source_types text[]
--   $11 source_identities text[]
--   $12 claimed_types text[] with nulls
--   $13 claimed_identities text[] with nulls
--   $14 correlation_ids text[] with nulls
--   $15 idempotency_keys text[] with nulls
--   $16 payloads bytea[] with nulls
--   $17 encodings text[] with nulls
--   $18 actors text[]
--   $19 outcomes jsonb[]
--   $20 channel text or null
-- columns:
--   ordinal int8
--   queue_id int4
--   resume_delay_ms int8 or null
--   is_hinted bool

with target as materialized (
  select i.*, e.partition_key, e.namespace, e.flow_id, e.generation, e.attached, e.queue_id
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bytea[], $17::text[], $18::text[],
    $19::jsonb[])
    with ordinality as i (execution_id, suspension_id, waitpoint_id, waitpoint_key, key_scope, kid, signal_id, signal_name,
      signal_category, source_type, source_identity, claimed_type, claimed_identity, correlation_id, idempotency_key,
      payload, payload_encoding, actor, outcome, ordinal)
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_core e on e.ctid = seen.ctid and e.xmin = seen.xmin
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
received as materialized (
  select t.*, k.now_ms as accepted_at_ms, s.resume_delay_ms, true as is_taken, 'resume_condition_satisfied' as effect,
    nextval('flowfabric.ff_signal_no') as signal_no, before.received_count + 1 as received_count
  from target t
  cross join clock k
  -- from src/engine/waiting/earlier-signals.ts: receivedCount
  cross join lateral (select coalesce((
    select case when g.generation = t.generation then g.received_count end
    from flowfabric.ff_signal g
    where g.execution_id = t.execution_id
    order by g.signal_no desc
    limit 1), 0) as received_count offset 0) before
  -- end of receivedCount
  join flowfabric.ff_suspension_current s on s.execution_id = any (array[t.execution_id])
  where s.suspension_id = t.suspension_id and s.closed_at_ms is null
    and (s.wake_at_ms is null or s.wake_at_ms > k.now_ms)
    and (t.kid is null or exists (
      select from flowfabric.ff_waitpoint_hmac h
      where h.namespace = any (array[t.key_scope]) and h.kid = any (array[t.kid]) and h.secret is not null
        and (h.expires_at_ms is null or h.expires_at_ms >= k.now_ms)))
    -- from src/engine/waiting/earlier-signals.ts: isFirstWithRoom
    and before.received_count < case when t.attached & 4096 /* signalLimit */ = 0 then 10000 else (
      select (n.policy ->> 'maxSignalCount')::int4
      from flowfabric.ff_exec_input n
      where n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])) end
    and case when t.waitpoint_id is null or before.received_count < 1000 then true
      else (
        select count(*)
        from flowfabric.ff_signal g
        where g.execution_id = t.execution_id and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = t.waitpoint_id
          and g.taken_at_ms is null) < 1000 end
    and case when t.idempotency_key is null then true
      else not exists (
        select g.signal_id, g.effect
        from flowfabric.ff_signal g
        where t.idempotency_key is not null and g.execution_id = any (array[t.execution_id])
          and g.idempotency_key = t.idempotency_key
          and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = coalesce(t.waitpoint_id,
            '00000000-0000-0000-0000-000000000000'::uuid)
          and (g.waitpoint_id is not null or g.generation = t.generation)
        limit 1) end
    -- end of isFirstWithRoom
),
-- from src/engine/waiting/signal/record.ts: recordReceived
recorded as (
  insert into flowfabric.ff_signal (execution_id, signal_no, signal_id, waitpoint_id, suspension_id, accepted_at_ms,
    taken_at_ms, generation, effect, received_count, waitpoint_key, signal_name, signal_category, source_type,
    source_identity, claimed_type, claimed_identity, correlation_id, idempotency_key, payload, payload_encoding)
  select execution_id, signal_no, signal_id, waitpoint_id, suspension_id, accepted_at_ms,
    case when is_taken then accepted_at_ms end, generation, effect::flowfabric.ff_signal_effect, received_count, waitpoint_key,
    signal_name, signal_category, source_type::flowfabric.ff_source_type, source_identity, claimed_type, claimed_identity,
    correlation_id, idempotency_key, payload, payload_encoding
  from received
),
-- end of recordReceived
waking as (
  select execution_id, 'signalled'::flowfabric.ff_interruption as wake_interruption, resume_delay_ms as wake_delay_ms,
    accepted_at_ms as woken_at_ms, actor as wake_actor, null::text as wake_reason, 'resumed' as wake_close_reason,
    outcome as wake_outcome, jsonb_build_array(waitpoint_key) as wake_answered, array[signal_no] as wake_signal_nos
  from received
),
-- The events of the signals come before the events of their effects.
-- from src/engine/transition/wake.ts: wakeSuspended
woken as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'runnable',
    eligibility_state = case when w.wake_delay_ms > 0 then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    interruption = w.wake_interruption,
    delay_until_ms = case when w.wake_delay_ms > 0 then w.woken_at_ms + w.wake_delay_ms end,
    parked_at_ms = null,
    parked_state = null,
    attached = e.attached & ~2 /* suspension */,
    last_mutation_at_ms = greatest(w.woken_at_ms, e.last_mutation_at_ms)
  from waking w
  where e.execution_id = any (array[w.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, e.queue_id, e.priority,
    e.rank, e.eligibility_state, e.delay_until_ms, e.last_mutation_at_ms, w.wake_actor, w.wake_reason,
    w.wake_close_reason, w.wake_outcome, w.wake_answered, w.wake_signal_nos
),
woken_ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, true, rank, execution_id
  from woken
  where eligibility_state = 'eligible_now'
),
woken_suspension as (
  update flowfabric.ff_suspension_current s
  set closed_at_ms = d.last_mutation_at_ms, close_reason = d.wake_close_reason, timeout_at_ms = null, wake_at_ms = null,
    outcome = d.wake_outcome, signal_nos = d.wake_signal_nos
  from woken d
  where s.execution_id = any (array[d.execution_id])
  returning s.execution_id, s.suspension_id, s.closed_at_ms, s.close_reason, s.keeps_waitpoints, d.wake_answered
),
woken_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = case when (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true)
      then 'pending'::flowfabric.ff_waitpoint_state
    else 'closed'::flowfabric.ff_waitpoint_state end,
    suspension_id = case when not (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true) then p.suspension_id end,
    closed_at_ms = case when not (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true) then s.closed_at_ms end,
    close_reason = case when not (s.keeps_waitpoints and (s.wake_answered ? p.waitpoint_key) is not true) then s.close_reason end
  from woken_suspension s
  where p.execution_id = any (array[s.execution_id]) and p.suspension_id = s.suspension_id and p.state = 'active'
),
woken_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor,
    reason, attempt_index, details)
  -- from src/engine/waiting/signal/settle.ts: settleStatement
  -- from src/engine/waiting/signal/record.ts: signalledEvents
  select accepted_at_ms, execution_id, flow_id, generation, 'signalled'::flowfabric.ff_event_type, partition_key, namespace,
    actor, null::text, null::int4,
    case when claimed_type is null
        then case when waitpoint_id is null
            then jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
              'sourceType', source_type, 'sourceIdentity', source_identity)
          else jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
            'sourceType', source_type, 'sourceIdentity', source_identity, 'waitpointId',
            '{fp:' || partition_key || '}:' || waitpoint_id) end
      else case when waitpoint_id is null
          then jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
            'sourceType', source_type, 'sourceIdentity', source_identity)
        else jsonb_build_object('signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
          'sourceType', source_type, 'sourceIdentity', source_identity, 'waitpointId',
          '{fp:' || partition_key || '}:' || waitpoint_id) end || jsonb_build_object('claimedType', claimed_type, 'claimedIdentity',
            claimed_identity) end
  from received
  -- end of signalledEvents
  union all
  -- end of settleStatement
  select last_mutation_at_ms, execution_id, flow_id, generation, 'resumed', partition_key, namespace, wake_actor,
    wake_reason, attempt_index,
    jsonb_strip_nulls(jsonb_build_object('closeReason', wake_close_reason, 'delayUntil', delay_until_ms,
      'outcome', wake_outcome))
  from woken
)
-- end of wakeSuspended
select ordinal, queue_id, resume_delay_ms,
  -- One notification for each queue: the database drops a repeated one in the same transaction.
  $20::text is not null and coalesce(resume_delay_ms, 0) = 0 and pg_notify($20, queue_id::text) is not null as is_hinted
from received
