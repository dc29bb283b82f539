-- Made by `npm run sql`; do not edit.
-- waitpoint.list
-- src/engine/waiting/waitpoint/list.ts: listStatement
-- 29 lines, 1 CTE
--
-- parameters:
--   $1 execution_id uuid
--   $2 waitpoint_id uuid
--   $3 limit int8
-- columns:
--   waitpoint_id uuid
--   waitpoint_key text
--   state text
--   required_signal_names text[]
--   signal_count int4
--   created_at_ms int8
--   activated_at_ms int8 or null
--   expires_at_ms int8 or null
--   token_kid text

with listed as materialized (
  select *
  from (
    select p.*
    from flowfabric.ff_waitpoint_pending p
    where p.execution_id = $1 and p.suspension_id is null and p.state = 'pending'
    union all
    select p.*
    from flowfabric.ff_suspension_current s
    cross join lateral (
      select p.*
      from flowfabric.ff_waitpoint_pending p
      where p.execution_id = s.execution_id and p.suspension_id = s.suspension_id and p.state = 'active'
      offset 0
    ) p
    where s.execution_id = $1
    offset 0
  ) p
  where p.waitpoint_id > $2
  order by p.waitpoint_id
  limit $3
)
-- from src/engine/waiting/earlier-signals.ts: countAtWaitpoint
select p.waitpoint_id, p.waitpoint_key, p.state, p.required_signal_names, (
  select count(*)
  from flowfabric.ff_signal g
  where g.execution_id = p.execution_id and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = p.waitpoint_id
    and g.taken_at_ms is null)::int4 as signal_count,
-- end of countAtWaitpoint
  p.created_at_ms, p.activated_at_ms, p.expires_at_ms, p.token_kid
from listed p
order by p.waitpoint_id
