-- Made by `npm run sql`; do not edit.
-- invariant.flow-cancelled
-- src/engine/kernel/invariant.ts: invariant
-- 14 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/flow/invariants.ts: flowInvariants
select e.execution_id::text as subject, concat(e.public_state, ' in a flow cancelled by ', f.cancel_policy) as found
from flowfabric.ff_flow_core f
join flowfabric.ff_exec_core e using (flow_id)
where e.lifecycle_phase <> 'terminal' and e.attached & 512 /* subFlow */ = 0
  and coalesce(f.cancel_policy = 'cancel_all' or f.cancel_policy = 'cancel_pending' and e.started_at_ms is null, false)
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
