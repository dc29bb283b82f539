-- Made by `npm run sql`; do not edit.
-- suspension.read-locked.signals
-- src/engine/waiting/suspension/read-locked.ts: earlySignals
-- 29 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 with_payloads bool[]
--   $3 names text[]
-- columns:
--   execution_id uuid
--   signal_no int8
--   signal_id uuid
--   signal_name text
--   source_type text
--   source_identity text
--   waitpoint_id uuid or null
--   waitpoint_key text or null
--   accepted_at_ms int8
--   payload bytea or null
--   payload_encoding text or null

select g.execution_id, g.signal_no, g.signal_id, g.signal_name, g.source_type, g.source_identity, g.waitpoint_id,
  g.waitpoint_key, g.accepted_at_ms, case when i.with_payload then g.payload end as payload, g.payload_encoding
from unnest($1::uuid[], $2::bool[]) as i (execution_id, with_payload)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
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
  where e.attached & 1 /* waitpoints */ <> 0
    and p.execution_id = any (array[e.execution_id]) and p.suspension_id is null and p.state = 'pending'
    and g.effect in ('buffered_for_pending_waitpoint', 'appended_to_waitpoint')
  union all
  select g.*
  from (
    -- from src/engine/transition/untaken-signals.ts: waitingByName
    select g.*
    from flowfabric.ff_signal g
    where g.execution_id = e.execution_id
      and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
      and g.generation = e.generation and g.taken_at_ms is null
    offset 0
    -- end of waitingByName
  ) g
  where g.suspension_id is null and g.signal_name = any ($3::text[])
) g
