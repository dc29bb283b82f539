-- Made by `npm run sql`; do not edit.
-- duty.dispatch-children.due
-- src/engine/dispatch/children.ts: due
-- 17 lines, 0 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
--   $6 from_ms int8
-- columns:
--   execution_id uuid

select execution_id from (
  select d.execution_id, d.generation, d.flow_id, d.parent_id, d.has_children, d.created_at_ms
  from flowfabric.ff_dispatch d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
  where d.has_children and d.created_at_ms > 0 and d.created_at_ms >= $6
    -- from src/engine/kernel/candidate.ts: inScope
    and cardinality($5::uuid[]) = 0
    -- from src/engine/kernel/due.ts: inDutyScope
    and ($2::text is null or e.namespace = $2)
    -- from src/engine/kernel/scope.ts: hasTag
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_exec_tag t
      where t.execution_id = e.execution_id and t.tag_key = $3))
    -- end of hasTag
    and not exists (
      select from flowfabric.ff_set_aside a
      where a.duty = 'dispatch-children' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
    -- end of inDutyScope
    -- end of inScope
  order by d.created_at_ms, d.execution_id
  limit $1
  for update of d skip locked) due
