-- Made by `npm run sql`; do not edit.
-- flow.cancel
-- src/engine/flow/cancel.ts: cancelStatement
-- 122 lines, 11 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 cancel_policy text
--   $5 reason text or null
--   $6 actor text
-- columns:
--   outcome text
--   old_policy text
--   old_reason text or null
--   member_count int8
--   member_ids uuid[]
--   ended_flow_ids uuid[]

with recursive asked as materialized (
  select f.flow_id, f.ctid as flow_row, f.root_flow_id, f.outcome, f.cancel_policy, f.cancel_reason,
    $4::text::flowfabric.ff_cancel_policy as policy
  from flowfabric.ff_flow_core f
  where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
),
marked as (
  select flow_id, flow_row, policy
  from asked
  where outcome = 'none' and cancel_policy is null
  union all
  select i.flow_id, i.ctid, k.policy
  from marked k
  join flowfabric.ff_flow_member m on m.flow_id = any (array[k.flow_id])
  join flowfabric.ff_flow_core i on i.flow_id = any (array[m.sub_flow_id])
  where k.policy <> 'flow_only' and i.ended_at_ms is null
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from asked
  having count(*) >= 0
),
-- end of clockAfter
-- A member that represents a flow ends with that flow.
member as materialized (
  select e.*
  from marked k
  cross join lateral (
    select e.execution_id, e.generation, e.flow_id, e.eligibility_state, e.xmin as seen_xmin
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = k.flow_id and e.lifecycle_phase <> 'terminal' and e.attached & 512 /* subFlow */ = 0
      and coalesce(k.policy = 'cancel_all' or k.policy = 'cancel_pending' and e.started_at_ms is null, false)
    offset 0
  ) e
),
flow_change as materialized (
  select k.flow_id, k.flow_row, 0 as success, 0 as failed, 0 as cancelled, 0 as expired, 0 as skipped, true as closes,
    false as begins, k.policy as marks, $5::text as mark_reason, $6::text as change_actor, c.now_ms
  from marked k
  cross join clock c
  union all
  select r.flow_id, r.ctid, 0, 0, 0, 0, 0, false, false, null, null, $6, c.now_ms
  from asked a
  join flowfabric.ff_flow_core r on r.flow_id = any (array[a.root_flow_id])
  cross join clock c
  where a.root_flow_id <> a.flow_id and a.outcome = 'none' and a.cancel_policy is null
),
-- from src/engine/transition/flow-ending.ts: endCancelledFlows
flow_after as materialized (
  select j.*, e.execution_id as standing_id,
    case when j.is_ending then 'cancelled' else 'none' end::flowfabric.ff_terminal_outcome as ending_as
  from (
    select c.*, f.member_id,
      f.ended_at_ms is null and c.marks is not null
      and (f.cancel_policy is null or c.marks = 'cancel_all' and f.cancel_policy <> 'cancel_all') as is_marked,
      f.ended_at_ms is null and c.marks is not null
      and f.success_count + f.failed_count + f.cancelled_count + f.expired_count + f.skipped_count = f.member_count as is_ending
    from flow_change c
    join flowfabric.ff_flow_core f on f.ctid = c.flow_row
  ) j
  left join flowfabric.ff_exec_core e
    on j.is_ending and e.execution_id = any (array[j.member_id]) and e.lifecycle_phase <> 'terminal'
),
-- end of endCancelledFlows
-- from src/engine/transition/flow-ending.ts: changeFlows
changed_flow as (
  update flowfabric.ff_flow_core f
  set success_count = f.success_count + a.success,
    failed_count = f.failed_count + a.failed,
    cancelled_count = f.cancelled_count + a.cancelled,
    expired_count = f.expired_count + a.expired,
    skipped_count = f.skipped_count + a.skipped,
    closed_at_ms = case when a.closes or a.is_marked then coalesce(f.closed_at_ms, a.now_ms) else f.closed_at_ms end,
    cancelled_at_ms = case when a.is_marked then coalesce(f.cancelled_at_ms, a.now_ms) else f.cancelled_at_ms end,
    cancel_policy = case when a.is_marked then a.marks else f.cancel_policy end,
    is_held = f.is_held and not a.begins,
    cancel_reason = case when a.is_marked then coalesce(f.cancel_reason, a.mark_reason) else f.cancel_reason end,
    cancelled_by = case when a.is_marked then coalesce(f.cancelled_by, a.change_actor) else f.cancelled_by end,
    ended_at_ms = case when a.is_ending then a.now_ms else f.ended_at_ms end,
    outcome = case when a.is_ending then a.ending_as else f.outcome end,
    last_mutation_at_ms = greatest(a.now_ms, f.last_mutation_at_ms)
  from flow_after a
  where f.flow_id = any (array[a.flow_id])
  returning f.flow_id, f.partition_key, f.namespace, f.outcome, f.cancel_policy, a.is_marked, a.is_ending, a.mark_reason,
    a.change_actor, a.now_ms
),
changed_flow_event as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, outcome, partition_key, namespace, actor, reason,
    details)
  select now_ms, flow_id, 'flow_cancel_requested'::flowfabric.ff_event_type, null::flowfabric.ff_terminal_outcome,
    partition_key, namespace, change_actor, mark_reason, jsonb_build_object('policy', cancel_policy)
  from changed_flow
  where is_marked
  union all
  select now_ms, flow_id, 'flow_ended', outcome, partition_key, namespace, change_actor, null, null
  from changed_flow
  where is_ending
),
-- end of changeFlows
backlogged as (
  insert into flowfabric.ff_cancel_backlog as b (execution_id, generation, flow_id, created_at_ms, reason, actor)
  select m.execution_id, m.generation, m.flow_id, c.now_ms, 'flow_cancelled', 'cancel_flow'
  from member m
  cross join clock c
  union all
  select e.execution_id, e.generation, e.flow_id, a.now_ms, 'flow_cancelled', 'cancel_flow'
  from flow_after a
  join flowfabric.ff_exec_core e on e.execution_id = any (array[a.standing_id])
  on conflict (execution_id, generation) do update set created_at_ms = b.created_at_ms
),
ready as materialized (
  select e.queue_id, e.priority, e.rank, e.execution_id
  from member m
  join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id]) and e.xmin = m.seen_xmin
  where m.eligibility_state = 'eligible_now'
  order by m.execution_id
  for no key update of e skip locked
),
unready as (
  delete from flowfabric.ff_ready r
  using ready e
  where r.queue_id = any (array[e.queue_id]) and r.neg_priority = -e.priority and r.rank = e.rank and r.execution_id = e.execution_id
)
select a.outcome, a.cancel_policy as old_policy, a.cancel_reason as old_reason, (select count(*) from member) as member_count,
  array(select execution_id from member order by execution_id limit 1000) as member_ids,
  array(select flow_id from changed_flow where is_ending) as ended_flow_ids
from asked a
