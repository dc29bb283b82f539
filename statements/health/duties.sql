-- Made by `npm run sql`; do not edit.
-- health.duties
-- src/engine/health/upkeep.ts: readDuties
-- 11 lines, 0 CTEs
--
-- parameters:
--   $1 supervisor text
-- columns:
--   duty text
--   filter text
--   late_ms int8

select d.duty, d.filter,
  flowfabric.ff_now_ms() - greatest(d.last_run_at_ms, d.taken_until_ms, s.last_run_at_ms, s.taken_until_ms, 0) as late_ms
from flowfabric.ff_duty d
left join lateral (
  select max(last_run_at_ms) as last_run_at_ms, max(taken_until_ms) as taken_until_ms
  from flowfabric.ff_duty
  where duty = $1 and (filter = d.filter or d.filter = '')
) s on true
where d.duty <> $1 and d.last_report is not null
order by d.duty, d.filter
limit 1000
