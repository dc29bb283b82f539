-- Made by `npm run sql`; do not edit.
-- step.list
-- src/engine/step/list.ts: listStatement
-- 15 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 after int8
--   $5 limit int8
-- columns:
--   step_no int4
--   place int4
--   step_name text
--   step_index int4
--   kind text
--   state text
--   try_count int4
--   attempt_index int4
--   lease_epoch int8
--   recorded_at_ms int8
--   due_at_ms int8 or null
--   duration_ms int8 or null
--   origin_id uuid or null
--   made_no int4 or null
--   result bytea or null
--   result_encoding text or null

select (s.step_no - (s.generation::int8 << 32))::int4 as step_no, s.place, s.step_name, s.step_index, s.kind,
  case when s.state = 'pending' and e.lifecycle_phase = 'terminal' then 'abandoned' else s.state::text end as state, s.try_count,
  s.attempt_index, s.lease_epoch, s.recorded_at_ms, s.due_at_ms, s.duration_ms, s.origin_id, s.made_no, s.result, s.result_encoding
from flowfabric.ff_exec_core e
cross join lateral (
  select *
  from flowfabric.ff_step f
  where f.execution_id = e.execution_id and f.step_no > 0
    and f.step_no > (e.generation::int8 << 32) + $4::int8
  order by f.step_no
  limit $5
) s
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
order by s.step_no
limit $5
