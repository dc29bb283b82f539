-- Made by `npm run sql`; do not edit.
-- duty.cancel-backlog.due
-- src/engine/kernel/due.ts: dueRows
-- 18 lines, 1 CTE
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
-- columns:
--   id uuid

with forgotten as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'cancel-backlog' and s.retry_at_ms < flowfabric.ff_now_ms() - 3600000
)
-- from src/engine/dispatch/cancel-backlog.ts: dueCancels
select b.execution_id as id
from flowfabric.ff_cancel_backlog b
join flowfabric.ff_exec_core e on e.execution_id = any (array[b.execution_id])
where b.created_at_ms > 0
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
    where a.duty = 'cancel-backlog' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
  -- end of inDutyScope
order by b.created_at_ms, b.execution_id
limit $1
-- end of dueCancels
