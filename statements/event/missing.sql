-- Made by `npm run sql`; do not edit.
-- event.missing
-- src/engine/event/frontier.ts: readMissing
-- 33 lines, 4 CTEs
--
-- parameters:
--   $1 from int8
--   $2 window int8
-- columns:
--   first_id int8
--   last_id int8
--   missing_from int8[]
--   missing_to int8[]
--   oldest_running int8

with log as materialized (
  select greatest($1, last_value - (not is_called)::int - $2 + 1) as first_id,
    last_value - (not is_called)::int as last_id
  from flowfabric.ff_event_id
),
seen as (
  select e.event_id
  from log
  cross join lateral (
    select event_id
    from flowfabric.ff_event
    where event_id >= log.first_id and event_id <= log.last_id
    offset 0
  ) e
  union all
  select greatest(log.last_id + 1, log.first_id)
  from log
),
step as (
  select seen.event_id, lag(seen.event_id) over (order by seen.event_id) as before
  from seen
),
missing as materialized (
  select coalesce(step.before + 1, log.first_id) as from_id, step.event_id - 1 as to_id
  from log
  cross join step
  where step.event_id > coalesce(step.before + 1, log.first_id)
)
select log.first_id, log.last_id,
  array(select from_id from missing order by from_id) as missing_from,
  array(select to_id from missing order by from_id) as missing_to,
  pg_snapshot_xmin(pg_current_snapshot())::text::int8 as oldest_running
from log
