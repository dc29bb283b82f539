-- Made by `npm run sql`; do not edit.
-- duty.delayed-promoter.due
-- src/engine/kernel/run-duty.ts: dutySteps
-- 15 lines, 0 CTEs
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
  -- from src/engine/duties/delayed-promoter.ts: due
  select e.execution_id, e.xmin as seen_xmin
  from flowfabric.ff_exec_core e
  where e.delay_until_ms <= flowfabric.ff_now_ms()
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
      where s.duty = 'delayed-promoter' and s.subject_id = any (array[e.execution_id]) and s.retry_at_ms > flowfabric.ff_now_ms())
    -- end of inScope
  order by e.delay_until_ms, e.execution_id
  limit $1) due
  -- end of due
