-- Made by `npm run sql`; do not edit.
-- upkeep.churned
-- src/engine/duties/embedded-upkeep.ts: readChurned
-- 9 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   relation text
--   is_old bool

select format('"%s"."%s"', replace(s.nspname, '"', '""'), replace(c.relname, '"', '""')) as relation,
  age(c.relfrozenxid) > 200000000 as is_old
from pg_class c
join pg_namespace s on s.oid = c.relnamespace
where c.relkind in ('r', 't') and c.relpersistence <> 't'
  and (age(c.relfrozenxid) > 200000000
    or pg_stat_get_dead_tuples(c.oid) > 2000 + 0.05 * pg_stat_get_live_tuples(c.oid))
order by age(c.relfrozenxid) > 200000000 desc, pg_stat_get_dead_tuples(c.oid) desc
limit 2
