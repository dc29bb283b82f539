-- Made by `npm run sql`; do not edit.
-- invariant.orphans
-- src/engine/kernel/invariant.ts: invariant
-- 39 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/invariants.ts: invariants
select o.execution_id::text as subject, o.origin as found
from (
  select execution_id, 'tag' as origin from flowfabric.ff_exec_tag
  union all
  select execution_id, 'result' from flowfabric.ff_exec_result
  union all
  select execution_id, 'dispatch' from flowfabric.ff_dispatch
  union all
  select execution_id, 'attempt' from flowfabric.ff_attempt
  union all
  select execution_id, 'progress' from flowfabric.ff_progress
  union all
  select execution_id, 'request' from flowfabric.ff_request
  union all
  select execution_id, 'grant' from flowfabric.ff_grant
  union all
  select execution_id, 'step' from flowfabric.ff_step
  union all
  select execution_id, 'suspension' from flowfabric.ff_suspension_current
  union all
  select execution_id, 'waitpoint' from flowfabric.ff_waitpoint_pending
  union all
  select execution_id, 'signal' from flowfabric.ff_signal
  union all
  select execution_id, 'key' from flowfabric.ff_idempotency_key
  union all
  select execution_id, 'cancel' from flowfabric.ff_cancel_backlog
  union all
  select execution_id, 'member' from flowfabric.ff_flow_member
  union all
  select upstream_id, 'edge from' from flowfabric.ff_edge
  union all
  select downstream_id, 'edge to' from flowfabric.ff_edge
  union all
  select downstream_id, 'group' from flowfabric.ff_edge_group
) o
left join flowfabric.ff_exec_core e on e.execution_id = o.execution_id
where e.execution_id is null
-- end of invariants
limit 10
