-- Made by `npm run sql`; do not edit.
-- suspension.open-waitpoints
-- src/engine/waiting/suspension/open-waitpoints.ts: openStatement
-- 37 lines, 4 CTEs
--
-- parameters:
--   $1 waitpoint_ids uuid[]
--   $2 execution_ids uuid[]
--   $3 suspension_ids uuid[]
--   $4 opened_ats_ms int8[]
--   $5 partition_keys int2[]
--   $6 keys text[]
--   $7 kids text[]
--   $8 required_names jsonb[]
--   $9 are_fresh bool[]
-- columns: none

with waitpoint as materialized (
  select i.*, array(select jsonb_array_elements_text(i.required_names)) as names
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int8[], $5::int2[], $6::text[], $7::text[], $8::jsonb[], $9::bool[])
    as i (waitpoint_id, execution_id, suspension_id, opened_at_ms, partition_key, waitpoint_key, kid, required_names,
      is_fresh)
),
activated as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'active', suspension_id = d.suspension_id, activated_at_ms = d.opened_at_ms, expires_at_ms = null,
    required_signal_names = d.names
  from waitpoint d
  where not d.is_fresh and p.waitpoint_id = any (array[d.waitpoint_id])
),
early as materialized (
  select g.execution_id, g.signal_no, d.suspension_id
  from waitpoint d
  cross join lateral (
    -- from src/engine/transition/untaken-signals.ts: waitingAt
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = d.execution_id and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = d.waitpoint_id
      and g.taken_at_ms is null
    offset 0
    -- end of waitingAt
  ) g
  where not d.is_fresh
),
counted as (
  update flowfabric.ff_signal g
  set suspension_id = y.suspension_id
  from early y
  where g.execution_id = any (array[y.execution_id]) and g.signal_no = any (array[y.signal_no])
)
insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
  partition_key, state, waitpoint_key, token_kid, required_signal_names)
select waitpoint_id, execution_id, suspension_id, opened_at_ms, opened_at_ms, partition_key, 'active', waitpoint_key, kid,
  names
from waitpoint
where is_fresh
