-- Made by `npm run sql`; do not edit.
-- sql.limit_lock_waits
-- src/sql/begin.ts: limitLockWaits
-- 1 line, 0 CTEs
--
-- parameters:
--   $1 lock_timeout_ms int8
-- columns:
--   done bool

select set_config('lock_timeout', $1::int8::text, true) is not null as done
