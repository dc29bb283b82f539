-- Made by `npm run sql`; do not edit.
-- health.try-again
-- src/engine/health/repair.ts: tryAgain
-- 10 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   duty text

update flowfabric.ff_set_aside
set retry_at_ms = flowfabric.ff_now_ms()
where (duty, subject_id) in (
  select duty, subject_id
  from flowfabric.ff_set_aside
  where retry_at_ms > flowfabric.ff_now_ms()
  order by duty, subject_id
  limit 1000
  for update skip locked)
returning duty
