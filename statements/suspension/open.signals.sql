-- Made by `npm run sql`; do not edit.
-- suspension.open.signals
-- src/engine/waiting/suspension/open-suspensions.ts: openSignals
-- 42 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 waitpoint_ids uuid[]
-- columns:
--   execution_id uuid
--   signal_no int8
--   signal_id uuid
--   signal_name text
--   source_type text
--   source_identity text
--   waitpoint_key text or null
--   accepted_at_ms int8
--   payload bytea or null
--   payload_encoding text or null

select g.execution_id, g.signal_no, g.signal_id, g.signal_name, g.source_type, g.source_identity, g.waitpoint_key,
  g.accepted_at_ms, case when jsonb_path_exists(s.condition, '$.**.payload') then g.payload end as payload,
  g.payload_encoding
from (
  select unnest($1::uuid[]) as execution_id
  union
  select p.execution_id
  from unnest($2::uuid[]) as w (waitpoint_id)
  cross join lateral (
    select p.execution_id
    from flowfabric.ff_waitpoint_pending p
    where p.waitpoint_id = w.waitpoint_id
    offset 0
  ) p
) i
join flowfabric.ff_suspension_current s on s.execution_id = any (array[i.execution_id])
cross join lateral (
  select g.*
  from flowfabric.ff_waitpoint_pending p
  cross join lateral (
    -- from src/engine/transition/untaken-signals.ts: waitingAt
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = p.execution_id and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = p.waitpoint_id
      and g.taken_at_ms is null
    offset 0
    -- end of waitingAt
  ) g
  where p.execution_id = any (array[s.execution_id]) and p.suspension_id = s.suspension_id
    and g.suspension_id = s.suspension_id
  union all
  select g.*
  from (
    -- from src/engine/transition/untaken-signals.ts: waitingByName
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = s.execution_id
      and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
      and g.generation = s.generation and g.taken_at_ms is null
    offset 0
    -- end of waitingByName
  ) g
  where jsonb_path_exists(s.condition, '$.** ? (@.name == $name)', jsonb_build_object('name', g.signal_name))
) g
where s.closed_at_ms is null and s.condition ->> 'kind' <> 'signal'
  and g.effect in ('appended_to_waitpoint', 'buffered_for_pending_waitpoint', 'kept_for_condition')
