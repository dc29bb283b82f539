-- Made by `npm run sql`; do not edit.
-- event.barrier
-- src/engine/event/frontier.ts: takeBarrier
-- 2 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   last_id int8
--   transaction_id int8

select last_value - (not is_called)::int as last_id, pg_current_xact_id()::text::int8 as transaction_id
from flowfabric.ff_event_id
