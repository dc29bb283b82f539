-- Made by `npm run sql`; do not edit.
-- event.last-id
-- src/engine/event/subscribe.ts: readLastId
-- 2 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   last_id int8

select last_value - (not is_called)::int as last_id
from flowfabric.ff_event_id
