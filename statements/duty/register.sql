-- Made by `npm run sql`; do not edit.
-- duty.register
-- src/engine/duties/poll-duties.ts: register
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 duties text[]
--   $2 filters text[]
-- columns: none

insert into flowfabric.ff_duty (duty, filter)
select *
from unnest($1::text[], $2::text[])
on conflict do nothing
