-- Made by `npm run sql`; do not edit.
-- dump.indexes
-- src/sql/dump-catalogue.ts: indexesStatement
-- 10 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   table_name text
--   definition text

select format('%I.%I', n.nspname, c.relname) as table_name,
  replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as definition
from pg_index i
join pg_class x on x.oid = i.indexrelid
join pg_class c on c.oid = i.indrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and not x.relispartition
  and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
order by c.relname collate "C", x.relname collate "C"
