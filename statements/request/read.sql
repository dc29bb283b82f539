-- Made by `npm run sql`; do not edit.
-- request.read
-- src/engine/execution/request-memory.ts: readRequests
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 request_ids text[]
-- columns:
--   execution_id uuid
--   answer jsonb

select r.execution_id, r.answer
from unnest($1::uuid[], $2::text[]) as i (execution_id, request_id)
join flowfabric.ff_request r
  on r.execution_id = any (array[i.execution_id]) and r.request_id = any (array[i.request_id])
