-- Made by `npm run sql`; do not edit.
-- migration.ledger_exists
-- src/sql/ledger.ts: ledgerExistsStatement
-- 1 line, 0 CTEs
--
-- parameters: none
-- columns:
--   found bool

select to_regclass('flowfabric.ff_migration') is not null as found
