-- Made by `npm run sql`; do not edit.
-- request.remember
-- src/engine/execution/request-memory.ts: storeRequests
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 request_ids text[]
--   $3 answers jsonb[]
-- columns: none

insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
select i.execution_id, i.request_id, i.answer, flowfabric.ff_now_ms()
from unnest($1::uuid[], $2::text[], $3::jsonb[]) as i (execution_id, request_id, answer)
