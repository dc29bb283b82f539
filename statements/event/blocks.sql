-- Made by `npm run sql`; do not edit.
-- event.blocks
-- src/engine/kernel/log-block.ts: readBlocks
-- 11 lines, 1 CTE
--
-- parameters: none
-- columns:
--   next_id int8
--   firsts int8[]
--   ends int8[]

with block as materialized (
  select coalesce(substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''?(\d+)')::int8, 1) as first_id,
    substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''?(\d+)')::int8 as end_id
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'flowfabric.ff_event'::regclass
)
select last_value + is_called::int as next_id,
  array(select first_id from block order by first_id) as firsts,
  array(select end_id from block order by first_id) as ends
from flowfabric.ff_event_id
