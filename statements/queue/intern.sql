-- Made by `npm run sql`; do not edit.
-- queue.intern
-- src/engine/queue/intern.ts: internQueue
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 lane text
--   $3 kind text
--   $4 version text
--   $5 capabilities text[]
-- columns: none

insert into flowfabric.ff_queue
  (namespace, lane_id, execution_kind, task_version, required_capabilities, capability_digest, created_at_ms)
select $1, $2, $3, $4, $5::text[], encode(substring(sha256(convert_to(array_to_string($5::text[], ','), 'UTF8')) for 16), 'hex')::uuid,
  flowfabric.ff_now_ms()
where not exists (
  select from flowfabric.ff_queue
  where namespace = $1 and lane_id = $2 and execution_kind = $3 and task_version = $4
    and capability_digest = encode(substring(sha256(convert_to(array_to_string($5::text[], ','), 'UTF8')) for 16), 'hex')::uuid)
on conflict on constraint ff_queue_identity do nothing
