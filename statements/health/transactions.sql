-- Made by `npm run sql`; do not edit.
-- health.transactions
-- src/engine/health/server.ts: readTransactions
-- 15 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   who text
--   state text
--   age_ms int8

select t.who, t.state, t.age_ms
from (
  select concat_ws(' ', 'pid', a.pid, a.usename, nullif(a.application_name, '')) as who, a.state::text as state,
    flowfabric.ff_now_ms() - floor(extract(epoch from a.xact_start) * 1000)::int8 as age_ms
  from pg_stat_activity a
  where a.datname = current_database() and a.xact_start is not null and a.pid <> pg_backend_pid()
    and a.backend_type = 'client backend'
  union all
  select concat_ws(' ', 'prepared transaction', p.gid, 'of', p.owner), 'prepared',
    flowfabric.ff_now_ms() - floor(extract(epoch from p.prepared) * 1000)::int8
  from pg_prepared_xacts p
  where p.database = current_database()
) t
order by t.age_ms desc
limit 5
