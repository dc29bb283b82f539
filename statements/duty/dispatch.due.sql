-- Made by `npm run sql`; do not edit.
-- duty.dispatch.due
-- src/engine/dispatch/take-dispatches.ts: dueDispatchIds
-- 22 lines, 1 CTE
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 passed_over uuid[]
-- columns:
--   execution_id uuid

-- from src/engine/kernel/due.ts: withForgotten
with forgotten as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'dispatch' and s.retry_at_ms < flowfabric.ff_now_ms() - 3600000
)
-- end of withForgotten
select execution_id
from (
  select d.execution_id, d.generation, d.outcome, d.flow_id, d.is_counted, d.created_at_ms,
    d.parent_id is not null or d.has_children as is_shared
  from flowfabric.ff_dispatch d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
  where d.flow_id is not null and d.created_at_ms > 0
    and (d.flow_id = any ($5::uuid[])) is not true
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
      where a.duty = 'dispatch' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
    -- end of inDutyScope
  order by d.created_at_ms, d.execution_id
  limit $1) due
