-- Made by `npm run sql`; do not edit.
-- migration.invalid_indexes
-- src/sql/migrate.ts: invalidIndexesStatement
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   name text

select c.relname::text as name
from pg_index i
join pg_class c on c.oid = i.indexrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1::text
  and c.relkind = 'i'
  and not i.indisvalid
order by 1
