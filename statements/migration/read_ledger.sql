-- Made by `npm run sql`; do not edit.
-- migration.read_ledger
-- src/sql/ledger.ts: readLedgerStatement
-- 3 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   version int4
--   name text
--   checksum text
--   oldest_code text

select version, name, checksum, oldest_code
from flowfabric.ff_migration
order by version
