-- Made by `npm run sql`; do not edit.
-- invariant.flow-counters
-- src/engine/kernel/invariant.ts: invariant
-- 24 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/flow/invariants.ts: flowInvariants
select f.flow_id::text as subject,
  concat_ws(' ', f.outcome, f.success_count, f.failed_count, f.cancelled_count, f.expired_count, f.skipped_count, 'of',
    f.member_count, 'but', m.counted, 'of', m.total) as found
from flowfabric.ff_flow_core f
cross join lateral (
  select count(*) as total, count(e.execution_id) as counted,
    count(*) filter (where e.terminal_outcome = 'success') as success,
    count(*) filter (where e.terminal_outcome = 'failed') as failed,
    count(*) filter (where e.terminal_outcome = 'cancelled') as cancelled,
    count(*) filter (where e.terminal_outcome = 'expired') as expired,
    count(*) filter (where e.terminal_outcome = 'skipped') as skipped
  from flowfabric.ff_flow_member m
  left join flowfabric.ff_exec_core e on e.execution_id = m.execution_id and e.lifecycle_phase = 'terminal'
    and not exists (
      select from flowfabric.ff_dispatch d
      where d.execution_id = e.execution_id and d.generation = e.generation and d.outcome = e.terminal_outcome
        and not d.is_counted)
  where m.flow_id = f.flow_id
) m
where (f.member_count, f.success_count, f.failed_count, f.cancelled_count, f.expired_count, f.skipped_count)
  is distinct from (m.total, m.success, m.failed, m.cancelled, m.expired, m.skipped)
  or f.ended_at_ms is not null and (f.closed_at_ms is null or m.counted < m.total)
  or f.ended_at_ms is null and f.closed_at_ms is not null and m.counted = m.total and not f.is_held
-- end of flowInvariants
limit 10
