-- Made by `npm run sql`; do not edit.
-- invariant.flow-blocked
-- src/engine/kernel/invariant.ts: invariant
-- 17 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/flow/invariants.ts: flowInvariants
select e.execution_id::text as subject, concat_ws(' ', 'group', g.state, g.satisfied, 'of', g.total) as found
from flowfabric.ff_flow_member m
join flowfabric.ff_exec_core e using (execution_id)
left join flowfabric.ff_edge_group g on g.downstream_id = e.execution_id
where e.eligibility_state = 'blocked_by_dependencies'
  and not (coalesce(g.state = 'pending', false) and (not g.is_sealed or exists (
    select from flowfabric.ff_edge x where x.downstream_id = e.execution_id and x.resolution is null)))
  and not exists (select from flowfabric.ff_flow_core i where i.flow_id = m.sub_flow_id and i.ended_at_ms is null)
  and not exists (
    select
    from flowfabric.ff_cancel_backlog b
    -- from src/engine/dispatch/cancel-backlog.ts: isSameLifeSql
    where b.execution_id = e.execution_id and (e.generation = b.generation or e.generation - b.generation = (
      select count(*)
      from flowfabric.ff_attempt a
      where a.execution_id = any (array[e.execution_id]) and a.outcome = 'restarted'
        and a.generation >= b.generation and a.generation < e.generation)))
    -- end of isSameLifeSql
-- end of flowInvariants
limit 10
