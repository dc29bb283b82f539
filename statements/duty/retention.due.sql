-- Made by `npm run sql`; do not edit.
-- duty.retention.due
-- src/engine/duties/retention.ts: due
-- 40 lines, 1 CTE
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 kept_for_ms int8
-- columns:
--   id uuid

-- from src/engine/kernel/due.ts: withForgotten
with forgotten as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'retention' and s.retry_at_ms < flowfabric.ff_now_ms() - 3600000
)
-- end of withForgotten
select past.id
from flowfabric.ff_queue q
cross join unnest(enum_range(null::flowfabric.ff_terminal_outcome)) as o (terminal_outcome)
cross join lateral (
  select e.execution_id as id
  from flowfabric.ff_exec_core e
  where e.queue_id = q.queue_id and e.terminal_outcome = o.terminal_outcome
    and e.terminal_at_ms < flowfabric.ff_now_ms() - $5
    and (select f.flow_id from flowfabric.ff_flow_core f where f.flow_id = e.flow_id) is null
    and (select p.lifecycle_phase = 'terminal' from flowfabric.ff_exec_core p where p.execution_id = e.parent_id)
    is not false
    and (select d.generation from flowfabric.ff_dispatch d where d.execution_id = e.execution_id limit 1) is null
    and (
      select max(k.expires_at_ms)
      from flowfabric.ff_idempotency_key k
      where k.namespace = any (array[e.namespace])
        and k.scope_id = any (array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[])
        and k.execution_id = e.execution_id
        and k.idempotency_key = any (array(
          select n.idempotency_key
          from flowfabric.ff_exec_input n
          where n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])))
    ) > flowfabric.ff_now_ms() is not true
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
      where a.duty = 'retention' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
    -- end of inDutyScope
  order by e.terminal_at_ms, e.execution_id
  limit $1
) past
where $2::text is null or q.namespace = $2
limit $1
