-- Made by `npm run sql`; do not edit.
-- dump.triggers
-- src/sql/dump-catalogue.ts: triggersStatement
-- 7 lines, 0 CTEs
--
-- parameters:
--   $1 schema text
-- columns:
--   definition text

select pg_get_triggerdef(t.oid) as definition
from pg_trigger t
join pg_class c on c.oid = t.tgrelid
join pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1
  and not t.tgisinternal
order by c.relname collate "C", t.tgname collate "C"
