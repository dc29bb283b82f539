-- Made by `npm run sql`; do not edit.
-- migration.record
-- src/sql/ledger.ts: recordStatement
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 version int4
--   $2 name text
--   $3 checksum text
--   $4 oldest_code text
-- columns: none

insert into flowfabric.ff_migration (version, name, checksum, oldest_code, applied_at_ms)
values ($1, $2, $3, $4, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
on conflict (version) do nothing
