-- Made by `npm run sql`; do not edit.
-- step.record
-- src/engine/step/record.ts: recordText
-- 88 lines, 8 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 step_name text[]
--   $8 step_index int4[]
--   $9 place int4[]
--   $10 kind text[]
--   $11 state text[]
--   $12 try_count int4[]
--   $13 due_in_ms int8[] with nulls
--   $14 given_due_at_ms int8[] with nulls
--   $15 duration_ms int4[] with nulls
--   $16 origin_id uuid[] with nulls
--   $17 result bytea[] with nulls
--   $18 result_encoding text[] with nulls
-- columns:
--   ordinal int8
--   is_held bool
--   is_last_holder bool
--   lease_epoch int8
--   public_state text
--   found_attempt int4
--   interruption text
--   pending_dispatch int4
--   is_over bool or null
--   known_kind text
--   due_at_ms int8 or null
--   now_ms int8 or null

-- from src/engine/kernel/set-request.ts: inputText
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[], $8::int4[], $9::int4[], $10::text[],
    $11::text[], $12::int4[], $13::int8[], $14::int8[], $15::int4[], $16::uuid[], $17::bytea[], $18::text[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, step_name, step_index, place, kind,
      state, try_count, due_in_ms, given_due_at_ms, duration_ms, origin_id, result, result_encoding, ordinal)
),
-- end of inputText
-- from src/engine/transition/fence.ts: fenced
target as materialized (
  select e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.interruption, e.public_state,
    e.attempt_index as found_attempt, e.attached, i.ordinal, i.given_lease_id, i.given_epoch, i.actor, i.step_name, i.step_index, i.place,
    i.kind, i.state, i.try_count, i.due_in_ms, i.given_due_at_ms, i.duration_ms, i.origin_id, i.result, i.result_encoding
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
known as materialized (
  select v.*, e.generation, e.attempt_index, coalesce(last.step_no, (e.generation::int8 << 32)) as last_no,
    coalesce(last.total_count, 0) as last_count, coalesce(last.total_bytes, 0) as last_bytes,
    s.kind as known_kind, coalesce(s.result_bytes, 0) as known_bytes,
    coalesce(v.given_due_at_ms, v.now_ms + v.due_in_ms) as due_at_ms
  from checked v
  join flowfabric.ff_exec_core e on e.execution_id = any (array[v.execution_id])
  left join lateral (
    select n.step_no, n.total_count, n.total_bytes
    from flowfabric.ff_step n
    where n.execution_id = e.execution_id and n.step_no > 0 and n.step_no > (e.generation::int8 << 32)
    order by n.step_no desc
    limit 1
  ) last on true
  left join lateral (
    select f.kind, octet_length(f.result) as result_bytes
    from flowfabric.ff_step f
    where f.execution_id = v.execution_id and f.generation = e.generation
      and f.step_name = v.step_name and f.step_index = v.step_index
    limit 1
  ) s on true
),
counted as materialized (
  select k.*, k.last_no + row_number() over earlier as step_no,
    k.last_count + sum(case when k.known_kind is null then 1 else 0 end) over earlier as total_count,
    k.last_bytes + sum(coalesce(octet_length(k.result), 0) - k.known_bytes) over earlier as total_bytes
  from known k
  window earlier as (partition by k.execution_id order by k.ordinal)
),
evaluated as materialized (
  select c.*, c.total_count > 10000 or c.total_bytes > 67108864 as is_over
  from counted c
),
recorded as (
  insert into flowfabric.ff_step as s (execution_id, generation, step_name, step_index, step_no, place, kind, state, try_count,
    attempt_index, lease_epoch, recorded_at_ms, due_at_ms, duration_ms, origin_id, total_bytes, total_count, result,
    result_encoding, made_no)
  select execution_id, generation, step_name, step_index, step_no, place, kind::flowfabric.ff_step_kind,
    state::flowfabric.ff_step_state, try_count, attempt_index, lease_epoch, now_ms, due_at_ms, duration_ms, origin_id,
    total_bytes, total_count, result, result_encoding,
    case when kind in ('child', 'compensation') then (step_no - (generation::int8 << 32))::int4 end
  from evaluated
  where is_held and not is_over and coalesce(known_kind::text = kind, true)
  on conflict (execution_id, generation, step_name, step_index) do update
  set step_no = excluded.step_no, state = excluded.state, try_count = excluded.try_count,
    attempt_index = excluded.attempt_index, lease_epoch = excluded.lease_epoch,
    recorded_at_ms = excluded.recorded_at_ms, due_at_ms = excluded.due_at_ms, duration_ms = excluded.duration_ms,
    origin_id = excluded.origin_id, total_bytes = excluded.total_bytes, total_count = excluded.total_count,
    result = excluded.result, result_encoding = excluded.result_encoding,
    -- A new attempt makes another child in place of one that has failed.
    made_no = case when s.state = 'failed' then excluded.made_no else s.made_no end
  where s.state in ('pending', 'failed')
)
-- from src/engine/transition/fenced-answer.ts: fencedAnswer
select v.ordinal, v.is_held, v.is_last_holder, v.lease_epoch, v.public_state, v.found_attempt, v.interruption,
  v.attached & 112 /* flow | parent | children */ as pending_dispatch, v.is_over, v.known_kind, v.due_at_ms, v.now_ms
from evaluated v
-- end of fencedAnswer
