-- Made by `npm run sql`; do not edit.
-- worker.lock
-- src/engine/worker/heartbeat.ts: lockOne
-- 3 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 worker_instance_id text
-- columns: none

select from flowfabric.ff_worker
where namespace = $1 and worker_instance_id = $2
for no key update
