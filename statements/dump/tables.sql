-- Made by `npm run sql`; do not edit.
-- dump.tables
-- src/sql/dump-catalogue.ts: tablesStatement
-- 18 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   name text
--   partition_of text or null
--   partition_bound text or null
--   partition_key text or null
--   options text[]

select format('%I.%I', n.nspname, c.relname) as name,
  (select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = c.oid) as partition_of,
  pg_get_expr(c.relpartbound, c.oid) as partition_bound,
  pg_get_partkeydef(c.oid) as partition_key,
  array(
    select option from (
      select unnest(c.reloptions)
      union all
      select 'toast.' || unnest(toast.reloptions)
    ) as options (option)
    order by option collate "C"
  ) as options
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
left join pg_class toast on toast.oid = c.reltoastrelid
where n.nspname = $1
  and c.relkind in ('r', 'p')
order by c.relname collate "C"
