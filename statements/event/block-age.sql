-- Made by `npm run sql`; do not edit.
-- event.block-age
-- src/engine/duties/log-blocks.ts: readAge
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 first int8
--   $2 end int8
--   $3 kept_for_ms int8
-- columns:
--   is_past bool

select coalesce((
  select e.occurred_at_ms < flowfabric.ff_now_ms() - $3
  from flowfabric.ff_event e
  where e.event_id >= $1 and e.event_id < $2
  order by e.event_id desc
  limit 1), true)
  and exists (
    select from flowfabric.ff_event e
    where e.event_id >= $2) as is_past
