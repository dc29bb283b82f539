-- Made by `npm run sql`; do not edit.
-- duty.attempt-timeout.due
-- src/engine/kernel/due.ts: dueRows
-- 17 lines, 1 CTE
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
  where s.duty = 'attempt-timeout' and s.retry_at_ms < flowfabric.ff_now_ms() - 3600000
)
select e.execution_id as id
from flowfabric.ff_exec_core e
where e.attempt_deadline_at_ms < flowfabric.ff_now_ms()
  and ($2::text is null or e.namespace = $2)
  -- from src/engine/kernel/scope.ts: hasTag
  and ($3::text is null or $4::text = (
    select t.tag_value
    from flowfabric.ff_exec_tag t
    where t.execution_id = e.execution_id and t.tag_key = $3))
  -- end of hasTag
  and not exists (
    select from flowfabric.ff_set_aside a
    where a.duty = 'attempt-timeout' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
order by e.attempt_deadline_at_ms, e.execution_id
limit $1
