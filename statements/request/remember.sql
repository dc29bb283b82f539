-- Made by `npm run sql`; do not edit.
-- request.remember
-- src/engine/execution/request-memory.ts: rememberRequest
-- 2 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 request_id text
--   $3 answer jsonb
-- columns: none

insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
values ($1, $2, $3::jsonb, flowfabric.ff_now_ms())
