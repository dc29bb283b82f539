-- Made by `npm run sql`; do not edit.
-- event.make-block
-- src/engine/kernel/log-block.ts: makeStatement
-- 1 line, 0 CTEs
--
-- parameters:
--   $1 first int8
--   $2 end int8
-- columns: none

select from flowfabric.ff_make_event_block($1, $2)
