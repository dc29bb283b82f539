-- Made by `npm run sql`; do not edit.
-- migration.schema_exists
-- src/sql/ledger.ts: schemaExistsStatement
-- 1 line, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   found bool

select exists (select from pg_namespace where nspname = $1::text) as found
