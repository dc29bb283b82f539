-- Made by `npm run sql`; do not edit.
-- dump.enums
-- src/sql/dump-catalogue.ts: enumsStatement
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   name text
--   labels text[]

select format('%I.%I', n.nspname, t.typname) as name,
  array_agg(quote_literal(e.enumlabel) order by e.enumsortorder) as labels
from pg_enum e
join pg_type t on t.oid = e.enumtypid
join pg_namespace n on n.oid = t.typnamespace
where n.nspname = $1
group by n.nspname, t.typname
order by t.typname collate "C"
