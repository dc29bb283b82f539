-- Made by `npm run sql`; do not edit.
-- queue.read
-- src/engine/queue/intern.ts: readQueue
-- 4 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 lane text
--   $3 kind text
--   $4 version text
--   $5 capabilities text[]
-- columns:
--   queue_id int4

select queue_id
from flowfabric.ff_queue
where namespace = $1 and lane_id = $2 and execution_kind = $3 and task_version = $4
  and capability_digest = encode(substring(sha256(convert_to(array_to_string($5::text[], ','), 'UTF8')) for 16), 'hex')::uuid
