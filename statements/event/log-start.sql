-- Made by `npm run sql`; do not edit.
-- event.log-start
-- src/engine/event/subscription.ts: readLogStart
-- 4 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   first_id int8 or null

select min(coalesce(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''?(\d+)')::int8, 1)) as first_id
from pg_inherits i
join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'flowfabric.ff_event'::regclass and not i.inhdetachpending
