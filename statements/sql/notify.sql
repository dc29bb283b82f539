-- Made by `npm run sql`; do not edit.
-- sql.notify
-- src/sql/postgres.ts: notifyStatement
-- 1 line, 0 CTEs
--
-- parameters:
--   $1 channel text
--   $2 payload text
-- columns:
--   sent bool

select pg_notify($1, $2) is not null as sent
