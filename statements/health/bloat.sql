-- Made by `npm run sql`; do not edit.
-- health.bloat
-- src/engine/health/server.ts: readBloat
-- 11 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   name text
--   dead_count int8
--   live_count int8
--   vacuumed_ms_ago int8 or null
--   may_vacuum bool

select t.relname::text as name, t.n_dead_tup as dead_count, t.n_live_tup as live_count,
  floor(extract(epoch from clock_timestamp() - greatest(t.last_autovacuum, t.last_vacuum)) * 1000)::int8 as vacuumed_ms_ago,
  pg_has_role(c.relowner, 'usage') or pg_has_role(d.datdba, 'usage')
  or case when current_setting('server_version_num')::int4 >= 170000
      then has_table_privilege(c.oid, 'maintain') else false end as may_vacuum
from pg_stat_user_tables t
join pg_class c on c.oid = t.relid
join pg_database d on d.datname = current_database()
where t.schemaname = $1::text and t.n_dead_tup > 10000 and t.n_dead_tup > t.n_live_tup
order by t.n_dead_tup desc
limit 10
