-- Made by `npm run sql`; do not edit.
-- queue.match
-- src/engine/queue/match.ts: matchStatement
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 namespaces text[]
--   $2 any_namespace bool
--   $3 lanes text[]
--   $4 kinds text[]
--   $5 any_kind bool
--   $6 versions text[]
--   $7 capabilities text[]
-- columns:
--   queue_id int4
--   namespace text
--   lane_id text
--   execution_kind text
--   task_version text

select q.queue_id, q.namespace, q.lane_id, q.execution_kind, q.task_version
from flowfabric.ff_queue q
where ($2 or q.namespace = any ($1::text[]))
  and q.lane_id = any ($3::text[])
  -- from src/engine/queue/served.ts: isServedSql
  and ($5 or q.execution_kind = any ($4::text[]))
  and (q.task_version = '' or q.task_version = any ($6::text[]))
  and q.required_capabilities <@ $7::text[]
  -- end of isServedSql
order by q.queue_id
