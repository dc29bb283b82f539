-- Made by `npm run sql`; do not edit.
-- migration.who
-- src/sql/migrate.ts: whoStatement
-- 1 line, 0 CTEs
--
-- parameters: none
-- columns:
--   role text
--   database text

select quote_ident(current_user) as role, quote_ident(current_database()) as database
