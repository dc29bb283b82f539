-- Made by `npm run sql`; do not edit.
-- hint.notify
-- src/engine/kernel/hint.ts: notify
-- 1 line, 0 CTEs
--
-- parameters:
--   $1 channel text
--   $2 payload text
-- columns:
--   sent bool

select set_config('synchronous_commit', 'off', true) is not null and pg_notify($1, $2) is not null as sent
