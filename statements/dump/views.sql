-- Made by `npm run sql`; do not edit.
-- dump.views
-- src/sql/dump-catalogue.ts: viewsStatement
-- 7 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   name text
--   definition text

select format('%I.%I', n.nspname, c.relname) as name,
  pg_get_viewdef(c.oid) as definition
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and c.relkind in ('v', 'm')
order by c.relname collate "C"
