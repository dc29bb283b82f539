-- Made by `npm run sql`; do not edit.
-- dump.constraints
-- src/sql/dump-catalogue.ts: constraintsStatement
-- 10 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   table_name text
--   definition text
--   is_foreign bool

select format('%I.%I', n.nspname, c.relname) as table_name,
  format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid)) as definition,
  k.contype = 'f' as is_foreign
from pg_constraint k
join pg_class c on c.oid = k.conrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and k.contype in ('p', 'u', 'f', 'c', 'x')
  and k.coninhcount = 0
order by c.relname collate "C", array_position('{p,u,f,c,x}', k.contype::text), k.conname collate "C"
