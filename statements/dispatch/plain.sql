-- Made by `npm run sql`; do not edit.
-- dispatch.plain
-- src/engine/dispatch/resolve-plain.ts: resolvePlainDispatches
-- 318 lines, 26 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 passed_over uuid[]
--   $3 from_ms int8
-- columns:
--   seen int8
--   processed int8
--   oldest_ms int8 or null
--   ready_queue_ids int4[]
--   shortest_delay_ms int8 or null
--   ended_flow_ids uuid[]
--   is_cut_short bool
--   held_flow_ids uuid[]
--   needs_more bool

with
-- from src/engine/dispatch/take-dispatches.ts: lookAtDispatches
dispatch as materialized (
  select c.*, e.generation as current_generation, s.sub_flow_id, f.ctid as flow_row, f.member_id as standing_id,
    f.is_held as is_flow_held, f.cancel_policy, f.root_flow_id, case when r.flow_id is null then f.ctid else r.ctid end as root_row,
    case when r.flow_id is null then f.xmin else r.xmin end as root_xmin,
    false as is_starting, seen.execution_id is not null as is_seen,
    seen.execution_id is not null and c.generation = e.generation and f.flow_id is not null and s.sub_flow_id is null
    and not c.owes_others as is_taken
  -- from src/engine/dispatch/resolve-plain.ts: resolvePlainDispatches
  from (
    -- from src/engine/dispatch/take-dispatches.ts: oldestDispatches
    select d.ctid as dispatch_row, d.execution_id, d.generation, d.outcome, d.flow_id, d.is_counted,
      d.created_at_ms, d.parent_id is not null or d.has_children as owes_others
    from flowfabric.ff_dispatch d
    where d.flow_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $3
      and (d.flow_id = any ($2::uuid[])) is not true
      and d.execution_id not in (select s.subject_id from flowfabric.ff_set_aside s where s.duty = 'dispatch')
    order by d.created_at_ms, d.execution_id
    limit $1
    for update of d skip locked) c
    -- end of oldestDispatches
  -- end of resolvePlainDispatches
  left join flowfabric.ff_dispatch seen on seen.ctid = c.dispatch_row
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id])
  left join flowfabric.ff_flow_core f on f.flow_id = any (array[c.flow_id])
  left join flowfabric.ff_flow_core r on r.flow_id = any (array[nullif(f.root_flow_id, f.flow_id)])
  cross join lateral (
    select case when e.attached & 512 /* subFlow */ <> 0 then (
      select m.sub_flow_id
      from flowfabric.ff_flow_member m
      where m.flow_id = c.flow_id and m.execution_id = c.execution_id) end as sub_flow_id
    offset 0
  ) s
  where c.flow_id is not null
),
-- end of lookAtDispatches
-- from src/engine/dispatch/take-dispatches.ts: lockTrees
tree as materialized (
  select r.flow_id
  from (select distinct root_flow_id, root_row, root_xmin from dispatch where is_taken) d
  join flowfabric.ff_flow_core r on r.ctid = d.root_row and r.xmin = d.root_xmin
  order by d.root_flow_id
  for no key update of r skip locked
),
told as materialized (
  select *,
    -- What ended before its flow has begun tells nobody until then.
    case when is_flow_held then (flow_id in (select sub_flow_id from dispatch where is_taken)) is not true else false end as is_ahead
  from dispatch
  where is_taken and (root_flow_id in (select flow_id from tree)) is true
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from told
  having count(*) >= 0
),
-- end of clockAfter
-- end of lockTrees
-- from src/engine/dispatch/judge-edges.ts: judgeEdges
edge as materialized (
  select x.ctid as edge_row, x.downstream_id, t.flow_id as upstream_flow_id, t.generation,
    case
      when x.kind <> 'start' and t.standing_id is not null and r.resolution = 'satisfied' and (
        select s.terminal_outcome = 'skipped'
        from flowfabric.ff_exec_core s
        where s.execution_id = t.standing_id) is true
        then 'skipped'::flowfabric.ff_edge_resolution
      else r.resolution
    end as resolution,
    -- The member ended before its flow could begin: that flow is cancelled, and its members with it.
    x.kind = 'start' and t.outcome not in ('none', 'skipped') as is_abandoned,
    case when x.kind <> 'start' then t.cancel_policy
      else (select i.cancel_policy from flowfabric.ff_flow_core i where i.flow_id = x.flow_id) end as cancel_policy
  from told t
  join flowfabric.ff_edge x on x.upstream_id = any (array[t.execution_id])
  -- from src/engine/transition/group-rule.ts: edgeResolution
  cross join lateral (select case
    when x.kind = 'optional'
      or x.kind = 'success_only' and t.outcome = 'success'
      or x.kind = 'start' and t.outcome = 'none'
      or x.kind = 'on_failure' and t.outcome not in ('success', 'skipped')
      then 'satisfied'::flowfabric.ff_edge_resolution
    when x.kind = 'on_failure' or t.outcome = 'skipped' then 'skipped'::flowfabric.ff_edge_resolution
    else 'failed'::flowfabric.ff_edge_resolution
  end as resolution) r
  -- end of edgeResolution
  where x.resolution is null
    and case when x.kind = 'start' then not t.is_starting else t.outcome <> 'none' and not t.is_ahead end
  limit $1 * 10
),
gain as (
  select downstream_id, count(*) filter (where resolution = 'satisfied') as satisfied,
    count(*) filter (where resolution = 'failed') as failed, count(*) filter (where resolution = 'skipped') as skipped,
    bool_or(is_abandoned) as is_abandoned, max(cancel_policy) as cancel_policy
  from edge
  group by downstream_id
),
summed as (
  select n.downstream_id, g.ctid as group_row, g.flow_id, g.state as state_before, g.on_satisfied, g.quorum, g.total, g.is_sealed,
    g.satisfied + n.satisfied as satisfied, g.failed + n.failed as failed, g.skipped + n.skipped as skipped,
    n.is_abandoned
    or coalesce(n.cancel_policy = 'cancel_all' or n.cancel_policy = 'cancel_pending' and e.started_at_ms is null, false) as is_cancelled,
    e.attached & 512 /* subFlow */ <> 0 as is_flow, e.eligibility_state = 'blocked_by_dependencies' as is_blocked, e.ctid as seen_row,
    e.xmin as seen_xmin
  from gain n
  join flowfabric.ff_edge_group g on g.downstream_id = any (array[n.downstream_id])
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[n.downstream_id])
),
grouped as materialized (
  select s.*, s.state_before = 'pending' and s.state <> 'pending' as is_fired
  from (
    -- from src/engine/transition/group-rule.ts: groupState
    select s.*, case when s.state_before <> 'pending' then s.state_before else case
      when s.quorum is null and s.failed + s.skipped > 0 then 'impossible'::flowfabric.ff_group_state
      when s.satisfied >= coalesce(s.quorum, s.total) then 'satisfied'::flowfabric.ff_group_state
      when s.is_sealed and s.failed + s.skipped > s.total - s.quorum then 'impossible'::flowfabric.ff_group_state
      else 'pending'::flowfabric.ff_group_state
    end end as state
    -- end of groupState
    from summed s
  ) s
),
-- end of judgeEdges
-- from src/engine/dispatch/settle.ts: countMembers
flow_change as (
  select c.flow_id, c.flow_row, count(*) filter (where c.outcome = 'success') as success,
    count(*) filter (where c.outcome = 'failed') as failed,
    count(*) filter (where c.outcome = 'cancelled') as cancelled,
    count(*) filter (where c.outcome = 'expired') as expired,
    count(*) filter (where c.outcome = 'skipped') as skipped,
    bool_or(c.closes) as closes, bool_or(c.begins) as begins, max(c.marks) as marks, 'member_ended' as mark_reason,
    'dispatch' as change_actor, k.now_ms
  from (
    select flow_id, flow_row, case when not is_counted then outcome end as outcome, false as closes, false as begins,
      null::flowfabric.ff_cancel_policy as marks
    from told
    union all
    select root_flow_id, root_row, null, false, false, null
    from told
    where root_flow_id <> flow_id
    union all
    -- The flow that the member stands for ends with it; when the member was skipped, the skips reach it by its edges.
    select i.flow_id, i.ctid, null, t.outcome <> 'none', true, case when t.outcome not in ('none', 'skipped')
        then 'cancel_all'::flowfabric.ff_cancel_policy end
    from told t
    join flowfabric.ff_flow_core i on i.flow_id = any (array[t.sub_flow_id])
  ) c
  cross join clock k
  group by c.flow_id, c.flow_row, k.now_ms
),
-- end of countMembers
-- from src/engine/transition/flow-ending.ts: judgeFlawlessFlows
flow_judged as materialized (
  select j.*, j.is_ending and not j.is_cancelled and not j.is_flawless as is_flawed
  from (
    select c.*, f.member_id,
      f.ended_at_ms is null and c.marks is not null
      and (f.cancel_policy is null or c.marks = 'cancel_all' and f.cancel_policy <> 'cancel_all') as is_marked,
      f.cancel_policy is not null or c.marks is not null as is_cancelled,
      f.success_count + c.success = f.member_count as is_flawless,
      f.is_held and c.begins and n.ended_count > 0 as has_ended_ahead,
      f.ended_at_ms is null and (f.closed_at_ms is not null or c.closes) and n.ended_count = f.member_count
      and (not f.is_held or c.begins or f.cancel_policy is not null or c.marks is not null) as is_ending
    from flow_change c
    join flowfabric.ff_flow_core f on f.ctid = c.flow_row
    cross join lateral (
      select f.success_count + f.failed_count + f.cancelled_count + f.expired_count + f.skipped_count
        + c.success + c.failed + c.cancelled + c.expired + c.skipped as ended_count
      offset 0
    ) n
  ) j
),
flow_after as materialized (
  select j.*, e.execution_id as standing_id, e.ctid as standing_row, e.xmin as standing_xmin,
    case
      when not j.is_ending then 'none'
      when j.is_cancelled then 'cancelled'
      when j.is_flawless then 'success'
      else 'none'
    end::flowfabric.ff_terminal_outcome as ending_as
  from flow_judged j
  left join flowfabric.ff_exec_core e
    on j.is_ending and e.execution_id = any (array[j.member_id]) and e.lifecycle_phase <> 'terminal'
),
-- end of judgeFlawlessFlows
fired as materialized (
  select g.downstream_id as execution_id, g.seen_row, g.seen_xmin,
    g.state = 'impossible' or g.is_flow or c.is_cancelling as needs_more
  from grouped g
  -- Where every edge is resolved, nobody is left to cancel.
  cross join lateral (
    select g.on_satisfied = 'cancel_remaining' and g.satisfied + g.failed + g.skipped < g.total as is_cancelling
  ) c
  where g.is_fired and not g.is_cancelled and (g.is_blocked or c.is_cancelling)
),
target as materialized (
  select e.execution_id, e.ctid as target_row, e.partition_key, 'unblock' as act
  from fired g
  join flowfabric.ff_exec_core e on e.ctid = g.seen_row and e.xmin = g.seen_xmin
  where not g.needs_more
  order by g.execution_id
  for no key update of e skip locked
),
stuck as materialized (
  select execution_id
  from fired
  where execution_id not in (select execution_id from target)
  union all
  select standing_id
  from flow_after
  where standing_id is not null
),
-- All members of a flow that are in the set, or none: so it is judged once.
-- from src/engine/dispatch/settle.ts: settle
stuck_flow as materialized (
  select flow_id
  from told
  where (select count(*) from edge) >= $1 * 10
  union all
  select upstream_flow_id
  from edge
  where (downstream_id in (select execution_id from stuck)) is true
  union all
  select flow_id
  from flow_after
  where (standing_id in (select execution_id from stuck)) is true
  union all
  select flow_id from flow_after where is_flawed
),
settled as materialized (
  select *
  from told
  where flow_id not in (select flow_id from stuck_flow)
),
resolved_edge as (
  update flowfabric.ff_edge x
  set resolution = n.resolution, resolved_generation = n.generation
  from edge n
  where x.ctid = n.edge_row and n.downstream_id not in (select execution_id from stuck)
),
resolved_group as (
  update flowfabric.ff_edge_group g
  set satisfied = n.satisfied, failed = n.failed, skipped = n.skipped, state = n.state,
    fired_at_ms = case when n.is_fired then k.now_ms else g.fired_at_ms end
  from grouped n
  cross join clock k
  where g.ctid = n.group_row and n.downstream_id not in (select execution_id from stuck)
),
flow_settled as (
  select a.flow_id, a.flow_row, a.closes, a.begins, a.marks, a.mark_reason, a.change_actor, a.now_ms, a.is_marked, a.ending_as,
    a.is_ending and not s.is_stuck as is_ending,
    case when s.is_stuck then 0 else a.success end as success, case when s.is_stuck then 0 else a.failed end as failed,
    case when s.is_stuck then 0 else a.cancelled end as cancelled,
    case when s.is_stuck then 0 else a.expired end as expired, case when s.is_stuck then 0 else a.skipped end as skipped
  from flow_after a
  cross join lateral (select (a.flow_id in (select flow_id from stuck_flow)) is true as is_stuck offset 0) s
),
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
  from flow_settled a
  where f.ctid = a.flow_row
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
-- end of settle
-- from src/engine/dispatch/open-members.ts: openMembers
opening as (
  select t.target_row, t.act, k.now_ms, case when n.delay_until_ms > k.now_ms and t.act = 'unblock' then n.delay_until_ms end as due_ms
  from target t
  cross join clock k
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
  where t.act in ('start', 'unblock')
),
opened as (
  update flowfabric.ff_exec_core e
  set eligibility_state = case
    when o.act = 'start' then e.eligibility_state
    when o.due_ms is not null then 'not_eligible_until_time'
    else 'eligible_now'
  end,
    delay_until_ms = o.due_ms,
    parked_at_ms = case when o.act = 'start' then e.parked_at_ms end,
    parked_state = case when o.act = 'start' then e.parked_state end,
    started_at_ms = case when o.act = 'start' then o.now_ms else e.started_at_ms end,
    last_mutation_at_ms = greatest(o.now_ms, e.last_mutation_at_ms)
  from opening o
  where e.ctid = o.target_row
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.queue_id, e.priority, e.rank,
    e.eligibility_state, e.last_mutation_at_ms, o.act, o.due_ms - o.now_ms as delay_ms
),
readied as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from opened
  where eligibility_state = 'eligible_now'
  returning queue_id
),
opened_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
    actor)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'unblocked', partition_key, namespace, 'dispatch'
  from opened
),
-- end of openMembers
-- from src/engine/dispatch/settle.ts: payDispatches
paid as (
  delete from flowfabric.ff_dispatch d
  using settled n
  where not n.owes_others and d.ctid = n.dispatch_row
)
-- end of payDispatches
-- from src/engine/dispatch/settle.ts: settledAnswer
select (select count(*) from dispatch) as seen, (select count(*) from settled) as processed,
  (select min(created_at_ms) from dispatch) as oldest_ms,
  coalesce((select array_agg(distinct queue_id) from readied), '{}'::int4[]) as ready_queue_ids,
  (select min(delay_ms) from opened) as shortest_delay_ms,
  coalesce((select array_agg(flow_id) from changed_flow where is_ending), '{}'::uuid[]) as ended_flow_ids,
-- end of settledAnswer
  (select count(*) from edge) >= $1 * 10 as is_cut_short,
  array(
    -- from src/engine/dispatch/take-dispatches.ts: heldTrees
    select distinct flow_id
    from dispatch
    where is_taken and root_flow_id not in (select flow_id from tree)) as held_flow_ids,
    -- end of heldTrees
  exists (select from dispatch where not is_taken) or exists (select from fired where needs_more)
  or exists (select from flow_after where standing_id is not null or is_flawed) as needs_more
