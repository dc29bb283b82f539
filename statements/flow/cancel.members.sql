-- Made by `npm run sql`; do not edit.
-- flow.cancel.members
-- src/engine/flow/cancel.ts: readCancelled
-- 13 lines, 1 CTE
--
-- parameters:
--   $1 flow_id uuid
-- columns:
--   member_count int8
--   member_ids uuid[]

with member as materialized (
  select e.execution_id
  from flowfabric.ff_flow_member m
  join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
  where m.flow_id = any (array[$1::uuid])
    -- In any generation: it may have restarted since, but was not replayed.
    and (e.cancellation_reason = 'flow_cancelled' or (
      select b.generation
      from flowfabric.ff_cancel_backlog b
      where b.execution_id = any (array[e.execution_id]) and b.reason = 'flow_cancelled'
      limit 1) is not null)
)
select (select count(*) from member) as member_count,
  array(select execution_id from member order by execution_id limit 1000) as member_ids
