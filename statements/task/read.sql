-- Made by `npm run sql`; do not edit.
-- task.read
-- src/engine/task/registry.ts: read
-- 12 lines, 0 CTEs
--
-- parameters:
--   $1 namespaces text[]
--   $2 kinds text[]
--   $3 versions text[]
-- columns:
--   ordinal int8
--   registered_kind text or null
--   registered_lane text or null
--   registered_deadline_ms int8 or null
--   registered_tags jsonb or null
--   registered_policy jsonb or null

select i.ordinal, r.registered_kind, r.registered_lane, r.registered_deadline_ms, r.registered_tags, r.registered_policy
from unnest($1::text[], $2::text[], $3::text[]) with ordinality as i (namespace, kind, version, ordinal)
-- from src/engine/task/registered.ts: joinRegistered
left join lateral (
  select t.execution_kind as registered_kind, t.lane_id as registered_lane, t.deadline_after_ms as registered_deadline_ms,
    t.tags as registered_tags, p.policy as registered_policy
  from flowfabric.ff_task t
  left join flowfabric.ff_policy p on p.policy_id = any (array[t.policy_id])
  where t.namespace = any (array[i.namespace, '']) and t.execution_kind = i.kind
    and (t.task_version = i.version or i.version = '')
  order by t.namespace <> '' desc, t.task_version = i.version desc, t.registered_at_ms desc, t.task_version desc
  limit 1
) r on true
-- end of joinRegistered
