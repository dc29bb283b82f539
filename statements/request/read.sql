-- Made by `npm run sql`; do not edit.
-- request.read
-- src/engine/execution/request-memory.ts: readRequest
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 request_id text
-- columns:
--   answer jsonb

select answer
from flowfabric.ff_request
where execution_id = $1 and request_id = $2
