-- Made by `npm run sql`; do not edit.
-- flow.close
-- src/engine/flow/close.ts: closeOpen
-- 310 lines, 22 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 actor text
-- columns:
--   owes bool

with flow_change as materialized (
  select f.flow_id, f.ctid as flow_row, 0 as success, 0 as failed, 0 as cancelled, 0 as expired, 0 as skipped, true as closes,
    false as begins, null::flowfabric.ff_cancel_policy as marks, null::text as mark_reason, $2::text as change_actor, c.now_ms
  from flowfabric.ff_flow_core f
  cross join (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where f.flow_id = $1
),
-- from src/engine/transition/flow-ending.ts: judgeFlows
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
-- Of the flows that end, and of the flows in their skipped members: why those were skipped is decided here, too.
-- from src/engine/transition/evaluate-flow-ending.ts: evaluateEndings
flawed_member as materialized (
  with recursive flawed (ending_flow_id, flow_id, execution_id, outcome, failure_reason, seen_row, seen_xmin, sub_flow_id) as (
    select j.flow_id, j.flow_id, m.*
    from flow_judged j
    cross join lateral (
      select e.execution_id, e.terminal_outcome as outcome, e.failure_reason, e.ctid as seen_row, e.xmin as seen_xmin,
        case when e.attached & 512 /* subFlow */ <> 0 then m.sub_flow_id end as sub_flow_id
      from flowfabric.ff_flow_member m
      join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
      where m.flow_id = j.flow_id and e.terminal_outcome not in ('none', 'success')
      offset 0
    ) m
    where j.is_flawed
    union all
    select f.ending_flow_id, f.sub_flow_id, m.*
    from flawed f
    cross join lateral (
      select e.execution_id, e.terminal_outcome as outcome, e.failure_reason, e.ctid as seen_row, e.xmin as seen_xmin,
        case when e.attached & 512 /* subFlow */ <> 0 then m.sub_flow_id end as sub_flow_id
      from flowfabric.ff_flow_member m
      join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
      where m.flow_id = f.sub_flow_id and e.terminal_outcome not in ('none', 'success')
      offset 0
    ) m
    where f.outcome = 'skipped' and f.sub_flow_id is not null
  )
  select *
  from flawed
),
-- By the join that they lead to: those that handle their upstream's ending when it was satisfied, and those that had satisfied it
-- before a replay ended their upstream in another way. What a join lacks is resolved by this statement or by a later one.
flawed_edge as materialized (
  select x.downstream_id, array_agg(x.upstream_id) filter (where r.is_satisfied or not r.was_satisfied) as upstream_ids,
    array_agg(x.upstream_id) filter (where not r.is_satisfied and r.was_satisfied) as replayed_ids
  from flawed_member m
  cross join lateral (
    select x.upstream_id, x.downstream_id, x.kind, x.resolution
    from flowfabric.ff_edge x
    where x.upstream_id = any (array[m.execution_id]) and x.kind <> 'start'
    offset 0
  ) x
  cross join lateral (
    -- from src/engine/transition/group-rule.ts: edgeResolution
    select case
      when x.kind = 'optional'
        or x.kind = 'success_only' and m.outcome = 'success'
        or x.kind = 'start' and m.outcome = 'none'
        or x.kind = 'on_failure' and m.outcome not in ('success', 'skipped')
        then 'satisfied'::flowfabric.ff_edge_resolution
      when x.kind = 'on_failure' or m.outcome = 'skipped' then 'skipped'::flowfabric.ff_edge_resolution
      else 'failed'::flowfabric.ff_edge_resolution
    end = 'satisfied' as is_satisfied, (x.resolution = 'satisfied') is true as was_satisfied
    -- end of edgeResolution
  ) r
  where m.flow_id = m.ending_flow_id
  group by x.downstream_id
),
handled as materialized (
  with recursive handled (execution_id) as (
    select h.execution_id
    from flawed_edge x
    join flowfabric.ff_edge_group g on g.downstream_id = any (array[x.downstream_id])
    cross join lateral (
      select count(*) filter (where r.resolution = 'satisfied') as satisfied,
        count(*) filter (where r.resolution = 'failed') as failed, count(*) filter (where r.resolution = 'skipped') as skipped
      from flowfabric.ff_edge y
      join flowfabric.ff_exec_core u on u.execution_id = any (array[y.upstream_id])
      -- from src/engine/transition/group-rule.ts: edgeResolution
      cross join lateral (select case
        when y.kind = 'optional'
          or y.kind = 'success_only' and u.terminal_outcome = 'success'
          or y.kind = 'start' and u.terminal_outcome = 'none'
          or y.kind = 'on_failure' and u.terminal_outcome not in ('success', 'skipped')
          then 'satisfied'::flowfabric.ff_edge_resolution
        when y.kind = 'on_failure' or u.terminal_outcome = 'skipped' then 'skipped'::flowfabric.ff_edge_resolution
        else 'failed'::flowfabric.ff_edge_resolution
      end as resolution) r
      -- end of edgeResolution
      where g.satisfied + g.failed + g.skipped < g.total
        and y.downstream_id = any (array[g.downstream_id]) and y.resolution is null
    ) n
    cross join lateral unnest(x.upstream_ids || case when g.satisfied + n.satisfied > g.quorum then x.replayed_ids end)
      as h (execution_id)
    -- from src/engine/transition/group-rule.ts: groupState
    where case when g.state <> 'pending' then g.state else case
      when g.quorum is null and g.failed + n.failed + g.skipped + n.skipped > 0 then 'impossible'::flowfabric.ff_group_state
      when g.satisfied + n.satisfied >= coalesce(g.quorum, g.total) then 'satisfied'::flowfabric.ff_group_state
      when true and g.failed + n.failed + g.skipped + n.skipped > g.total - g.quorum then 'impossible'::flowfabric.ff_group_state
      else 'pending'::flowfabric.ff_group_state
    end end = 'satisfied'
    -- end of groupState
    union
    -- Through a member that did not run.
    select x.upstream_id
    from handled h
    cross join lateral (
      select x.upstream_id
      from flowfabric.ff_edge_group g
      join flowfabric.ff_edge x on x.downstream_id = any (array[g.downstream_id])
      join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
      where g.downstream_id = any (array[h.execution_id]) and g.state <> 'satisfied' and x.kind <> 'start'
        and u.terminal_outcome <> 'success'
      offset 0
    ) x
  )
  select execution_id
  from handled
),
failed_flow as materialized (
  select distinct m.flow_id
  from (
    select m.flow_id, bool_or(m.is_handled) over (partition by m.execution_id) as is_handled
    from (
      select flow_id, execution_id, false as is_handled
      from flawed_member
      where flow_id = ending_flow_id and outcome in ('failed', 'cancelled', 'expired')
      union all
      select null, execution_id, true
      from handled
    ) m
  ) m
  where m.flow_id is not null and not m.is_handled
),
-- Skipped because a member failed whose success they needed, or on which such a member depends.
struck as materialized (
  with recursive struck (execution_id, is_flow) as (
    (
      select d.execution_id, d.is_flow
      from flawed_member m
      cross join lateral (
        select d.execution_id, d.attached & 512 /* subFlow */ <> 0 as is_flow
        from flowfabric.ff_edge x
        join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
        where x.upstream_id = any (array[m.execution_id]) and x.kind = 'success_only' and d.terminal_outcome = 'skipped'
        offset 0
      ) d
      where m.outcome in ('failed', 'cancelled', 'expired')
      union
      select d.execution_id, d.is_flow
      from flow_judged j
      cross join lateral (
        select d.execution_id, d.attached & 512 /* subFlow */ <> 0 as is_flow
        from flowfabric.ff_exec_core s
        join flowfabric.ff_flow_member m on m.flow_id = any (array[j.flow_id])
        join flowfabric.ff_exec_core d on d.execution_id = any (array[m.execution_id])
        where s.execution_id = any (array[j.member_id]) and s.terminal_outcome = 'skipped'
          and s.failure_reason = 'dependency_failed' and d.terminal_outcome = 'skipped'
        offset 0
      ) d
      where j.is_flawed
    )
    union
    select d.execution_id, d.is_flow
    from struck k
    cross join lateral (
      select d.execution_id, d.attached & 512 /* subFlow */ <> 0 as is_flow
      from flowfabric.ff_edge x
      join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
      where x.upstream_id = any (array[k.execution_id]) and x.kind <> 'optional' and d.terminal_outcome = 'skipped'
      union all
      select d.execution_id, d.attached & 512 /* subFlow */ <> 0
      from flowfabric.ff_flow_core f
      join flowfabric.ff_flow_member m on m.flow_id = any (array[f.flow_id])
      join flowfabric.ff_exec_core d on d.execution_id = any (array[m.execution_id])
      where k.is_flow and f.member_id = any (array[k.execution_id]) and d.terminal_outcome = 'skipped'
      offset 0
    ) d
  )
  select execution_id
  from struck
),
skip_change as materialized (
  select m.ending_flow_id, m.execution_id, m.seen_row, m.seen_xmin, r.reason
  from (
    select m.*, bool_or(m.is_struck) over (partition by m.execution_id) as is_reached
    from (
      select ending_flow_id, execution_id, failure_reason, seen_row, seen_xmin, false as is_struck
      from flawed_member
      where outcome = 'skipped'
      union all
      select null, execution_id, null, null, null, true
      from struck
    ) m
  ) m
  cross join lateral (select case when m.is_reached then 'dependency_failed' else 'not_needed' end as reason) r
  where m.ending_flow_id is not null and m.failure_reason is distinct from r.reason
),
-- end of evaluateEndings
flow_after as materialized (
  select j.*, e.execution_id as standing_id, e.ctid as standing_row, e.xmin as standing_xmin,
    case
      when not j.is_ending then 'none'
      when j.is_cancelled then 'cancelled'
      when j.is_flawless then 'success'
      else case when j.flow_id in (select flow_id from failed_flow) then 'failed' else 'success' end
    end::flowfabric.ff_terminal_outcome as ending_as
  from flow_judged j
  left join flowfabric.ff_exec_core e
    on j.is_ending and e.execution_id = any (array[j.member_id]) and e.lifecycle_phase <> 'terminal'
),
-- end of judgeFlows
restated as materialized (
  select r.reason, e.ctid as target_row
  from skip_change r
  join flowfabric.ff_exec_core e on e.execution_id = any (array[r.execution_id])
  order by r.execution_id
  for no key update of e
),
-- from src/engine/transition/evaluate-flow-ending.ts: restateSkips
restated_skip as (
  update flowfabric.ff_exec_core e
  set failure_reason = r.reason
  from restated r
  where e.ctid = r.target_row
),
-- end of restateSkips
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
changed as materialized (
  select flow_id, partition_key, namespace, now_ms
  from changed_flow
),
-- from src/engine/flow/seal-groups.ts: sealGroups
sealing as materialized (
  select g.downstream_id, l.flow_id, l.edge_id, l.upstream_id, l.resolution
  from changed c
  join flowfabric.ff_edge_group g on g.flow_id = any (array[c.flow_id])
  left join lateral (
    select x.flow_id, x.edge_id, x.upstream_id, x.resolution
    from flowfabric.ff_edge x
    where g.state = 'pending' and g.failed + g.skipped > g.total - g.quorum
      and x.downstream_id = any (array[g.downstream_id]) and x.resolution is not null
    limit 1
  ) l on true
  where not g.is_sealed
),
sealed as (
  update flowfabric.ff_edge_group g
  set is_sealed = true,
    satisfied = g.satisfied - case when s.resolution = 'satisfied' then 1 else 0 end,
    failed = g.failed - case when s.resolution = 'failed' then 1 else 0 end,
    skipped = g.skipped - case when s.resolution = 'skipped' then 1 else 0 end
  from sealing s
  where g.downstream_id = any (array[s.downstream_id])
),
unresolved as (
  update flowfabric.ff_edge x
  set resolution = null, resolved_generation = null
  from sealing s
  where x.flow_id = any (array[s.flow_id]) and x.edge_id = any (array[s.edge_id])
),
-- end of sealGroups
-- from src/engine/flow/owe-dispatch.ts: owing
owed as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, c.flow_id, c.now_ms, e.terminal_outcome, true
  from changed c
  cross join unnest(array(select distinct upstream_id from sealing where upstream_id is not null)::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  where e.lifecycle_phase = 'terminal'
  on conflict (execution_id, generation, outcome) do update set flow_id = excluded.flow_id
  returning execution_id
),
-- end of owing
told as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor)
  select now_ms, flow_id, 'flow_closed', partition_key, namespace, $2
  from changed
)
select exists (select from owed) as owes
