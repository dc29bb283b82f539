-- Made by `npm run sql`; do not edit.
-- schedule.resolve.read
-- src/engine/schedule/resolve.ts: read
-- 16 lines, 0 CTEs
--
-- parameters:
--   $1 schedule_ids uuid[]
-- columns:
--   schedule_id uuid
--   request_hash bytea
--   given jsonb
--   namespace text
--   lane_id text
--   execution_kind text
--   task_version text
--   required_capabilities text[]
--   policy jsonb or null
--   deadline_after_ms int8 or null
--   tags jsonb or null
--   registered_kind text or null
--   registered_lane text or null
--   registered_deadline_ms int8 or null
--   registered_tags jsonb or null
--   registered_policy jsonb or null

select s.schedule_id, s.request_hash, s.given, s.namespace, q.lane_id, q.execution_kind, q.task_version,
  q.required_capabilities, s.policy, s.deadline_after_ms, s.tags, r.registered_kind, r.registered_lane, r.registered_deadline_ms,
  r.registered_tags, r.registered_policy
from unnest($1::uuid[]) as i (schedule_id)
join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
-- from src/engine/task/registered.ts: joinRegistered
left join lateral (
  select t.execution_kind as registered_kind, t.lane_id as registered_lane, t.deadline_after_ms as registered_deadline_ms,
    t.tags as registered_tags, p.policy as registered_policy
  from flowfabric.ff_task t
  left join flowfabric.ff_policy p on p.policy_id = any (array[t.policy_id])
  where t.namespace = any (array[s.namespace, '']) and t.execution_kind = q.execution_kind
    and (t.task_version = q.task_version or q.task_version = '')
  order by t.namespace <> '' desc, t.task_version = q.task_version desc, t.registered_at_ms desc, t.task_version desc
  limit 1
) r on true
-- end of joinRegistered
