-- Made by `npm run sql`; do not edit.
-- migration.blockers
-- src/sql/blockers.ts: readBlockers
-- 12 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   pid int4
--   application text
--   state text or null
--   query_s int8 or null
--   transaction_s int8 or null
--   relation text

select a.pid, coalesce(a.application_name, '') as application, a.state,
  extract(epoch from clock_timestamp() - a.query_start)::int8 as query_s,
  extract(epoch from clock_timestamp() - a.xact_start)::int8 as transaction_s, min(c.relname::text) as relation
from pg_locks l
join pg_class c on c.oid = l.relation
join pg_namespace n on n.oid = c.relnamespace
join pg_stat_activity a on a.pid = l.pid
where n.nspname = $1::text and l.granted and l.database = (select oid from pg_database where datname = current_database())
  and a.pid <> pg_backend_pid()
group by a.pid, a.application_name, a.state, a.query_start, a.xact_start
order by a.xact_start, a.pid
limit 3
