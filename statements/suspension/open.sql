-- Made by `npm run sql`; do not edit.
-- suspension.open
-- src/engine/waiting/suspension/open-suspensions.ts: openSuspensions
-- 22 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   now_ms int8
--   free_signal_no int8
--   suspension_id uuid
--   condition jsonb
--   keeps_waitpoints bool
--   resume_delay_ms int8 or null
--   wake_at_ms int8 or null
--   timeout_at_ms int8 or null
--   escalated_at_ms int8 or null
--   timeout_behaviour text
--   child_endings jsonb or null

select i.execution_id, flowfabric.ff_now_ms() as now_ms, nextval('flowfabric.ff_signal_no') as free_signal_no, o.*
from unnest($1::uuid[]) as i (execution_id)
cross join lateral (
  select s.suspension_id, s.condition, s.keeps_waitpoints, s.resume_delay_ms, s.wake_at_ms, s.timeout_at_ms, s.escalated_at_ms,
    case when s.escalated_at_ms is null then s.timeout_behavior else s.second_behavior end as timeout_behaviour,
    c.child_endings
  from flowfabric.ff_suspension_current s
  cross join lateral (
    select jsonb_object_agg(c.id #>> '{}', e.terminal_at_ms) as child_endings
    from jsonb_path_query(s.condition, '$.** ? (@.kind == "child").executionId') as c (id)
    cross join lateral (
      select e.terminal_at_ms
      from flowfabric.ff_exec_core e
      where e.execution_id = substring(c.id #>> '{}' from '^\{fp:\d+\}:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$')::uuid
        and e.parent_id = s.execution_id and e.terminal_at_ms is not null
      offset 0
    ) e
    where s.condition ->> 'kind' in ('child', 'allOf', 'anyOf')
  ) c
  where s.execution_id = any (array[i.execution_id]) and s.closed_at_ms is null
  offset 0
) o
