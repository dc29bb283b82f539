-- Made by `npm run sql`; do not edit.
-- event.oldest-running
-- src/engine/event/frontier.ts: readOldestRunning
-- 1 line, 0 CTEs
--
-- parameters: none
-- columns:
--   oldest_running int8

select pg_snapshot_xmin(pg_current_snapshot())::text::int8 as oldest_running
