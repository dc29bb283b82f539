-- Made by `npm run sql`; do not edit.
-- event.blocker
-- src/engine/event/stall.ts: readBlocker
-- 12 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   pid int4 or null
--   age_ms int8 or null
--   what text or null

select b.pid, floor(extract(epoch from clock_timestamp() - b.began_at) * 1000)::int8 as age_ms, b.what
from (
  select a.pid, a.backend_xid as transaction_id, a.xact_start as began_at,
    concat_ws(': ', nullif(a.application_name, ''), a.state, a.query) as what, a.datname as database
  from pg_stat_activity a
  where a.backend_xid is not null and a.pid <> pg_backend_pid()
  union all
  select null, p.transaction, p.prepared, concat('prepared as ', p.gid), p.database
  from pg_prepared_xacts p
) b
order by b.database = current_database() desc, age(b.transaction_id) desc
limit 1
