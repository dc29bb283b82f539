-- Made by `npm run sql`; do not edit.
-- duty.cancel-backlog.read
-- src/engine/dispatch/cancel-backlog.ts: readBacklog
-- 11 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   execution_id uuid
--   generation int4
--   reason text
--   actor text
--   is_same_life bool
--   is_only_pending bool

select b.execution_id, b.generation, b.reason, b.actor, (e.generation = b.generation or e.generation - b.generation = (
  select count(*)
  from flowfabric.ff_attempt a
  where a.execution_id = any (array[e.execution_id]) and a.outcome = 'restarted'
    and a.generation >= b.generation and a.generation < e.generation)) as is_same_life,
  b.reason = 'flow_cancelled' and e.attached & 512 /* subFlow */ = 0
  and coalesce(f.cancel_policy = 'cancel_pending', false) as is_only_pending
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_cancel_backlog b on b.execution_id = any (array[i.execution_id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
left join flowfabric.ff_flow_core f on f.flow_id = any (array[b.flow_id])
