-- Made by `npm run sql`; do not edit.
-- signal.read-locked
-- src/engine/waiting/signal/read-locked.ts: readStatement
-- 84 lines, 1 CTE
--
-- parameters:
--   $1 waitpoint_ids uuid[] with nulls
--   $2 execution_ids uuid[] with nulls
--   $3 partition_keys int2[]
--   $4 namespaces text[] with nulls
--   $5 kids text[] with nulls
--   $6 idempotency_keys text[] with nulls
--   $7 signal_ids uuid[] with nulls
-- columns:
--   ordinal int8
--   now_ms int8
--   signal_no int8
--   execution_id uuid
--   namespace text
--   queue_id int4
--   lane_id text
--   flow_id uuid or null
--   generation int4
--   lifecycle_phase text
--   public_state text
--   waitpoint_key text or null
--   waitpoint_created_at_ms int8 or null
--   waitpoint_state text
--   waitpoint_suspension_id uuid or null
--   waitpoint_expires_at_ms int8 or null
--   first_signal_id uuid or null
--   first_effect text
--   key_scope text or null
--   key_kid text or null
--   key_expires_at_ms int8 or null
--   key_is_wrapped bool or null
--   key_secret bytea or null
--   waitpoint_count int8 or null
--   is_first bool
--   most_signals int4 or null
--   received_count int4 or null
--   suspension_id uuid or null
--   condition jsonb or null
--   keeps_waitpoints bool or null
--   resume_delay_ms int8 or null
--   wake_at_ms int8 or null
--   timeout_at_ms int8 or null
--   escalated_at_ms int8 or null
--   timeout_behaviour text
--   child_endings jsonb or null

with found as materialized (
  select i.ordinal, i.waitpoint_id, i.kid, i.idempotency_key, i.signal_id, e.execution_id, e.partition_key, e.namespace,
    e.queue_id, e.flow_id, e.generation, e.attached, e.lifecycle_phase, e.public_state, p.waitpoint_key,
    p.created_at_ms as waitpoint_created_at_ms, p.state as waitpoint_state, p.suspension_id as waitpoint_suspension_id,
    p.expires_at_ms as waitpoint_expires_at_ms,
    row_number() over (partition by coalesce(i.execution_id, p.execution_id) order by i.ordinal) = 1 as is_first,
    row_number() over (partition by i.waitpoint_id order by i.ordinal) = 1 as is_first_there
  from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[], $5::text[], $6::text[], $7::uuid[])
    with ordinality as i (waitpoint_id, execution_id, partition_key, namespace, kid, idempotency_key, signal_id, ordinal)
  left join flowfabric.ff_waitpoint_pending p
    on p.waitpoint_id = any (array[i.waitpoint_id]) and p.partition_key = i.partition_key
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[coalesce(i.execution_id, p.execution_id)])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
)
select f.ordinal, t.now_ms, nextval('flowfabric.ff_signal_no') as signal_no, f.execution_id, f.namespace, f.queue_id,
  q.lane_id, f.flow_id, f.generation, f.lifecycle_phase, f.public_state, f.waitpoint_key, f.waitpoint_created_at_ms, f.waitpoint_state,
  f.waitpoint_suspension_id, f.waitpoint_expires_at_ms,
  coalesce(again.signal_id, same.signal_id) as first_signal_id, coalesce(again.effect, same.effect) as first_effect,
  k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret,
  -- from src/engine/waiting/earlier-signals.ts: countAtWaitpoint
  case when f.is_first_there and f.waitpoint_id is not null then (
    select count(*)
    from flowfabric.ff_signal g
    where g.execution_id = f.execution_id and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = f.waitpoint_id
      and g.taken_at_ms is null) end as waitpoint_count,
  -- end of countAtWaitpoint
  -- from src/engine/waiting/earlier-signals.ts: mostSignalsOf
  f.is_first, case when f.is_first then case when f.attached & 4096 /* signalLimit */ = 0 then 10000 else (
    select (n.policy ->> 'maxSignalCount')::int4
    from flowfabric.ff_exec_input n
    where n.partition_key = any (array[f.partition_key]) and n.execution_id = any (array[f.execution_id])) end end as most_signals,
  -- end of mostSignalsOf
  -- from src/engine/waiting/earlier-signals.ts: receivedCount
  case when f.is_first then coalesce((
    select case when g.generation = f.generation then g.received_count end
    from flowfabric.ff_signal g
    where g.execution_id = f.execution_id
    order by g.signal_no desc
    limit 1), 0) end as received_count, o.*
  -- end of receivedCount
from found f
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) t
join flowfabric.ff_queue q on q.queue_id = any (array[f.queue_id])
-- from src/engine/signing-key/stored-key.ts: keyByKid
left join lateral (
  select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[f.namespace, '']) and k.kid = f.kid and k.secret is not null
  limit 1
) k on true
-- end of keyByKid
left join lateral (
  -- from src/engine/waiting/earlier-signals.ts: signalOfSameKey
  select g.signal_id, g.effect
  from flowfabric.ff_signal g
  where f.idempotency_key is not null and g.execution_id = any (array[f.execution_id])
    and g.idempotency_key = f.idempotency_key
    and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = coalesce(f.waitpoint_id,
      '00000000-0000-0000-0000-000000000000'::uuid)
    and (g.waitpoint_id is not null or g.generation = f.generation)
  limit 1
  -- end of signalOfSameKey
) same on true
left join lateral (
  select g.signal_id, g.effect
  from flowfabric.ff_signal g
  where f.signal_id is not null and g.execution_id = any (array[f.execution_id]) and g.signal_id = f.signal_id
  limit 1
) again on true
left join lateral (
  -- from src/engine/waiting/suspension/open-suspensions.ts: openSuspensionOf
  select s.suspension_id, s.condition, s.keeps_waitpoints, s.resume_delay_ms, s.wake_at_ms, s.timeout_at_ms, s.escalated_at_ms,
    case when s.escalated_at_ms is null then s.timeout_behavior else s.second_behavior end as timeout_behaviour,
    c.child_endings
  from flowfabric.ff_suspension_current s
  cross join lateral (
    select jsonb_object_agg(c.id #>> '{}', e.terminal_at_ms) as child_endings
    from jsonb_path_query(s.condition, '$.** ? (@.kind == "child").executionId') as c (id)
    cross join lateral (
      select e.terminal_at_ms
      from flowfabric.ff_exec_core e
      where e.execution_id = substring(c.id #>> '{}' from '^\{fp:\d+\}:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$')::uuid
        and e.parent_id = s.execution_id and e.terminal_at_ms is not null
      offset 0
    ) e
    where s.condition ->> 'kind' in ('child', 'allOf', 'anyOf')
  ) c
  where s.execution_id = any (array[case when f.is_first and f.lifecycle_phase = 'suspended' then f.execution_id end])
    and s.closed_at_ms is null
  offset 0
  -- end of openSuspensionOf
) o on true
order by f.ordinal
