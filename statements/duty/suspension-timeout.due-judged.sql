-- Made by `npm run sql`; do not edit.
-- duty.suspension-timeout.due-judged
-- src/engine/duties/evaluated-duty.ts: evaluatedDuty
-- 18 lines, 0 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
-- columns:
--   execution_id uuid

select execution_id from (
  -- from src/engine/duties/suspension-timeout.ts: dueWhere
  select e.execution_id, e.xmin as seen_xmin
  from flowfabric.ff_suspension_current s
  join flowfabric.ff_exec_core e on e.execution_id = any (array[s.execution_id])
  where s.timeout_at_ms < flowfabric.ff_now_ms()
    and (case when s.escalated_at_ms is null then s.timeout_behavior else s.second_behavior end = 'auto_resume_with_timeout_signal'
      or s.wake_at_ms <= flowfabric.ff_now_ms())
    -- from src/engine/kernel/candidate.ts: inScope
    and cardinality($5::uuid[]) = 0
    and ($2::text is null or e.namespace = $2)
    -- from src/engine/kernel/scope.ts: hasTag
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_exec_tag t
      where t.execution_id = e.execution_id and t.tag_key = $3))
    -- end of hasTag
    and not exists (
      select from flowfabric.ff_set_aside s
      where s.duty = 'suspension-timeout' and s.subject_id = any (array[e.execution_id]) and s.retry_at_ms > flowfabric.ff_now_ms())
    -- end of inScope
  order by s.timeout_at_ms, s.execution_id
  limit $1) due
  -- end of dueWhere
