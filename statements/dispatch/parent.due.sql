-- Made by `npm run sql`; do not edit.
-- dispatch.parent.due
-- src/engine/dispatch/parent.ts: due
-- 16 lines, 0 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
--   $6 passed_over uuid[]
--   $7 from_ms int8
-- columns:
--   execution_id uuid
--   parent_id uuid
--   created_at_ms int8

select d.execution_id, d.parent_id, d.created_at_ms
from flowfabric.ff_dispatch d
join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
where d.parent_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $7
  and (d.parent_id = any ($6::uuid[])) is not true
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
    where a.duty = 'dispatch-parent' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
  -- end of inDutyScope
  -- end of inScope
order by d.created_at_ms, d.execution_id
limit $1
