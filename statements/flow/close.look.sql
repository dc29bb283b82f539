-- Made by `npm run sql`; do not edit.
-- flow.close.look
-- src/engine/flow/close.ts: readFacts
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
-- columns:
--   flow_id uuid
--   member_id uuid or null
--   is_held bool
--   is_closed bool
--   has_ended bool
--   cancel_policy text
--   member_count int4
--   success_count int4
--   ended_count int4
--   member_outcome text
--   member_reason text or null
--   now_ms int8

-- from src/engine/transition/flow-facts.ts: flowFactColumns
select f.flow_id, f.member_id, f.is_held, f.closed_at_ms is not null as is_closed, f.outcome <> 'none' as has_ended,
  f.cancel_policy, f.member_count, f.success_count,
  f.success_count + f.failed_count + f.cancelled_count + f.expired_count + f.skipped_count as ended_count,
  s.terminal_outcome as member_outcome, s.failure_reason as member_reason, k.now_ms
-- end of flowFactColumns
from flowfabric.ff_flow_core f
left join flowfabric.ff_exec_core s on s.execution_id = any (array[f.member_id])
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
where f.flow_id = $1
