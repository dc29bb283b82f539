-- Made by `npm run sql`; do not edit.
-- health.server
-- src/engine/health/server.ts: readServer
-- 6 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   version text
--   version_number int4
--   jit text
--   autovacuum text
--   is_read_only bool
--   connection_count int4
--   connection_limit int4
--   now_ms int8

select current_setting('server_version') as version, current_setting('server_version_num')::int4 as version_number,
  current_setting('jit') as jit, current_setting('autovacuum') as autovacuum,
  pg_is_in_recovery() as is_read_only,
  (select count(*)::int4 from pg_stat_activity where backend_type = 'client backend') as connection_count,
  current_setting('max_connections')::int4 as connection_limit,
  floor(extract(epoch from clock_timestamp()) * 1000)::int8 as now_ms
