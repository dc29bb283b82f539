-- Made by `npm run sql`; do not edit.
-- dispatch.read-flows
-- src/engine/dispatch/read-tree.ts: readFlows
-- 38 lines, 4 CTEs
--
-- parameters: none
-- columns:
--   ordinals int8[]
--   skipped_by_failure int8[]
--   is_sub_flow bool
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

with
-- from src/engine/dispatch/take-dispatches.ts: takenDispatches
taken as materialized (
  select *
  from unnest(nullif(current_setting('ff.taken_ordinals', true), '')::int8[], nullif(current_setting('ff.taken_ids', true), '')::uuid[],
    nullif(current_setting('ff.taken_generations', true), '')::int4[],
    nullif(current_setting('ff.taken_outcomes', true), '')::flowfabric.ff_terminal_outcome[],
    nullif(current_setting('ff.taken_nested', true), '')::bool[])
    as t (ordinal, execution_id, generation, outcome, is_nested)
),
-- end of takenDispatches
member as materialized (
  select t.ordinal, t.execution_id, e.flow_id, e.attached & 512 /* subFlow */ <> 0 as is_flow,
    e.terminal_outcome = 'skipped' and e.failure_reason = 'dependency_failed' as is_skipped_by_failure
  from taken t
  join flowfabric.ff_exec_core e on e.execution_id = any (array[t.execution_id])
  where e.generation = t.generation
),
flow as materialized (
  select flow_id, array_agg(ordinal) as ordinals, array_agg(ordinal) filter (where is_skipped_by_failure) as skipped_by_failure,
    false as is_sub_flow
  from member
  group by flow_id
  union all
  select m.sub_flow_id, array[n.ordinal], null, true
  from member n
  join flowfabric.ff_flow_member m on m.flow_id = any (array[n.flow_id]) and m.execution_id = any (array[n.execution_id])
  where n.is_flow
),
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
)
-- from src/engine/transition/flow-facts.ts: flowFactColumns
select n.ordinals, coalesce(n.skipped_by_failure, '{}') as skipped_by_failure, n.is_sub_flow, f.flow_id, f.member_id, f.is_held,
  f.closed_at_ms is not null as is_closed, f.outcome <> 'none' as has_ended, f.cancel_policy, f.member_count, f.success_count,
  f.success_count + f.failed_count + f.cancelled_count + f.expired_count + f.skipped_count as ended_count,
  s.terminal_outcome as member_outcome, s.failure_reason as member_reason, k.now_ms
-- end of flowFactColumns
from flow n
join flowfabric.ff_flow_core f on f.flow_id = any (array[n.flow_id])
left join flowfabric.ff_exec_core s on s.execution_id = any (array[f.member_id])
cross join clock k
