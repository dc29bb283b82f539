-- Made by `npm run sql`; do not edit.
-- migration.try_lock
-- src/sql/migrate.ts: tryLockStatement
-- 1 line, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   locked bool

select pg_try_advisory_xact_lock(hashtextextended('ff_migrate ' || $1, 0)) as locked
