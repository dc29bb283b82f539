-- Made by `npm run sql`; do not edit.
-- flow.replay.line
-- src/engine/flow/replay-read.ts: readLine
-- 19 lines, 1 CTE
--
-- parameters:
--   $1 execution_id uuid
-- columns:
--   execution_id uuid
--   flow_id uuid
--   is_cancelled bool

with recursive line (execution_id, flow_id, member_id, is_ended, is_cancelled) as (
  select e.execution_id, f.flow_id, f.member_id, f.ended_at_ms is not null, f.cancelled_at_ms is not null
  from flowfabric.ff_exec_core e
  join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
  where e.execution_id = $1
  union all
  select e.execution_id, f.flow_id, f.member_id, f.ended_at_ms is not null, f.cancelled_at_ms is not null
  from line l
  cross join lateral (
    select e.execution_id, e.flow_id
    from flowfabric.ff_exec_core e
    where e.execution_id = l.member_id and e.terminal_outcome <> 'skipped'
    offset 0
  ) e
  join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
  where l.is_ended
)
select execution_id, flow_id, is_cancelled
from line
