-- Made by `npm run sql`; do not edit.
-- event.drop-block
-- src/engine/duties/log-blocks.ts: dropStatement
-- 1 line, 0 CTEs
--
-- parameters:
--   $1 end int8
-- columns:
--   dropped bool

select flowfabric.ff_drop_event_block($1) as dropped
