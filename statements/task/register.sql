-- Made by `npm run sql`; do not edit.
-- task.register
-- src/engine/task/register.ts: write
-- 18 lines, 0 CTEs
--
-- parameters:
--   $1 namespace text
--   $2 worker_instance_id text or null
--   $3 worker_id text or null
--   $4 kinds text[]
--   $5 versions text[]
--   $6 lanes text[] with nulls
--   $7 deadlines_ms int8[] with nulls
--   $8 tags jsonb[] with nulls
--   $9 policy_hashes bytea[] with nulls
--   $10 actor text
-- columns: none

insert into flowfabric.ff_task as t (namespace, execution_kind, task_version, registered_at_ms, deadline_after_ms,
  policy_id, lane_id, registered_by, tags)
select $1, i.kind, i.version, flowfabric.ff_now_ms(), i.deadline_ms, p.policy_id, i.lane, $10, i.tags
from unnest($4::text[], $5::text[], $6::text[], $7::int8[], $8::jsonb[], $9::bytea[])
  as i (kind, version, lane, deadline_ms, tags, policy_hash)
left join flowfabric.ff_policy p on p.policy_hash = any (array[i.policy_hash])
where ($2::text is null or exists (
  select from flowfabric.ff_worker w where w.namespace = $1 and w.worker_instance_id = $2 and w.worker_id = $3))
  and not exists (
    select from flowfabric.ff_task s
    where s.namespace = $1 and s.execution_kind = i.kind and s.task_version = i.version
      and (s.deadline_after_ms, s.policy_id, s.lane_id, s.tags)
      is not distinct from (i.deadline_ms, p.policy_id, i.lane, i.tags))
order by i.kind, i.version
on conflict (namespace, execution_kind, task_version) do update
set registered_at_ms = greatest(t.registered_at_ms, excluded.registered_at_ms), registered_by = excluded.registered_by,
  deadline_after_ms = excluded.deadline_after_ms, policy_id = excluded.policy_id, lane_id = excluded.lane_id,
  tags = excluded.tags
