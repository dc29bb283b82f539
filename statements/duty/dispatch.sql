-- Made by `npm run sql`; do not edit.
-- duty.dispatch
-- src/engine/dispatch/resolve.ts: resolveDispatches
-- 775 lines, 57 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 namespace text or null
--   $3 tag_key text or null
--   $4 tag_value text or null
--   $5 only uuid[]
--   $6 passed_over uuid[]
--   $7 from_ms int8
-- columns:
--   seen int8
--   processed int8
--   ready_queue_ids int4[]
--   owes int4
--   called_off_ids uuid[]
--   backlogged int8
--   oldest_ms int8 or null
--   shortest_delay_ms int8 or null
--   ended_flow_ids uuid[]
--   held_flow_ids uuid[]

with due as materialized (
  -- from src/engine/dispatch/take-dispatches.ts: dueDispatches
  select d.ctid as dispatch_row, d.execution_id, d.generation, d.outcome, d.flow_id, d.is_counted,
    d.created_at_ms, d.parent_id is not null or d.has_children as owes_others
  from flowfabric.ff_dispatch d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id])
  where d.flow_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $7
    and (d.flow_id = any ($6::uuid[])) is not true
    -- from src/engine/kernel/candidate.ts: inScope
    and cardinality($5::uuid[]) = 0
    -- from src/engine/kernel/due.ts: inDutyScope
    and ($2::text is null or e.namespace = $2)
    -- from src/engine/kernel/scope.ts: hasTag
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_exec_tag t
      where t.execution_id = e.execution_id and t.tag_key = $3))
    -- end of hasTag
    and not exists (
      select from flowfabric.ff_set_aside a
      where a.duty = 'dispatch' and a.subject_id = any (array[e.execution_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
    -- end of inDutyScope
    -- end of inScope
  order by d.created_at_ms, d.execution_id
  limit $1
  for update of d skip locked
  -- end of dueDispatches
),
named as materialized (
  select d.ctid as dispatch_row, d.execution_id, d.generation, d.outcome, d.flow_id, d.is_counted,
    d.created_at_ms, d.parent_id is not null or d.has_children as owes_others
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_dispatch d on d.execution_id = any (array[o.execution_id])
  for update of d skip locked
),
-- from src/engine/dispatch/take-dispatches.ts: lookAtDispatches
dispatch as materialized (
  select c.*, e.generation as current_generation, s.sub_flow_id, f.ctid as flow_row, f.member_id as standing_id,
    f.is_held as is_flow_held, f.cancel_policy, f.root_flow_id, case when r.flow_id is null then f.ctid else r.ctid end as root_row,
    case when r.flow_id is null then f.xmin else r.xmin end as root_xmin,
    -- from src/engine/dispatch/resolve.ts: isStarting
    s.sub_flow_id is not null and c.outcome <> 'none' and (
      select w.generation
      from flowfabric.ff_dispatch w
      where w.execution_id = any (array[c.execution_id]) and w.generation = c.generation and w.outcome = 'none'
    ) is not null as is_starting, seen.execution_id is not null as is_seen,
    -- end of isStarting
    seen.execution_id is not null and c.generation = e.generation as is_taken
  from (select * from due union all select * from named) c
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
-- By name the acts are in the order in which they matter: what ends with the flow that it stands for does nothing else.
wanted as materialized (
  select distinct on (w.execution_id) w.*
  from (
    select g.downstream_id as execution_id, g.seen_row, g.seen_xmin,
      case when g.state = 'impossible' then 'skip' when g.is_flow then 'start' else 'unblock' end as act,
      'skipped'::flowfabric.ff_terminal_outcome as ending_outcome,
      -- from src/engine/dispatch/judge-edges.ts: skipReason
      case when g.state = 'impossible' then case
        when g.failed > 0 or (
          select x.edge_id
          from flowfabric.ff_edge x
          join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
          where x.downstream_id = any (array[g.downstream_id])
            and u.terminal_outcome = 'skipped' and u.failure_reason = 'dependency_failed' and x.kind <> 'optional'
          limit 1) is not null or (
            select s.failure_reason
            from flowfabric.ff_exec_core s
            where s.execution_id = (select f.member_id from flowfabric.ff_flow_core f where f.flow_id = g.flow_id)
              and s.terminal_outcome = 'skipped'
          ) = 'dependency_failed' then 'dependency_failed'
        else 'not_needed'
      end end as ending_reason, 'dispatch' as ending_actor,
      -- end of skipReason
      null::uuid as ended_flow_id
    from grouped g
    where g.is_fired and g.is_blocked and not g.is_cancelled
    union all
    -- from src/engine/transition/flow-ending.ts: standingEnding
    select a.standing_id, a.standing_row, a.standing_xmin, 'end', a.ending_as as ending_outcome,
      case a.ending_as when 'failed' then 'flow_failed' when 'cancelled' then 'flow_cancelled' end as ending_reason,
      case when a.ending_as = 'cancelled' then 'cancel_flow' else a.change_actor end as ending_actor, a.flow_id
    -- end of standingEnding
    from flow_after a
    where a.standing_id is not null
  ) w
  order by w.execution_id, w.act
),
target as materialized (
  select e.*, e.ctid as target_row, w.act, w.ending_outcome, w.ending_reason, w.ending_actor, w.ended_flow_id
  from wanted w
  join flowfabric.ff_exec_core e on e.ctid = w.seen_row and e.xmin = w.seen_xmin
  order by w.execution_id
  for no key update of e skip locked
),
stuck as materialized (
  select execution_id
  from wanted
  where execution_id not in (select execution_id from target)
),
restated as materialized (
  select r.ending_flow_id, r.reason, e.ctid as target_row
  from skip_change r
  join flowfabric.ff_exec_core e on e.ctid = r.seen_row and e.xmin = r.seen_xmin
  order by r.execution_id
  for no key update of e skip locked
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
  -- from src/engine/dispatch/resolve.ts: resolveDispatches
  select r.ending_flow_id
  from (select ending_flow_id, 1 as missing from skip_change union all select ending_flow_id, -1 from restated) r
  group by r.ending_flow_id
  having sum(r.missing) > 0
  -- end of resolveDispatches
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
-- from src/engine/transition/evaluate-flow-ending.ts: restateSkips
restated_skip as (
  update flowfabric.ff_exec_core e
  set failure_reason = r.reason
  from restated r
  where e.ctid = r.target_row
),
-- end of restateSkips
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
-- from src/engine/dispatch/open-members.ts: oweStarts
started as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome)
  select execution_id, generation, flow_id, last_mutation_at_ms, 'none'
  from opened
  where act = 'start'
  returning execution_id
),
-- end of oweStarts
-- from src/engine/dispatch/open-members.ts: oweEndedAhead
ended_ahead as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, e.flow_id, a.now_ms, e.terminal_outcome, true
  from flow_after a
  cross join lateral (
    select e.execution_id, e.generation, e.flow_id, e.terminal_outcome
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = a.flow_id and e.lifecycle_phase = 'terminal'
    offset 0
  ) e
  where a.has_ended_ahead
  -- One that is in this set tells of itself.
  on conflict do nothing
  returning execution_id
),
-- end of oweEndedAhead
ending as materialized (
  select t.*, k.now_ms as ended_at_ms, null::bytea as ending_result, null::text as ending_encoding, null::text as ending_category,
    null::bytea as ending_error, null::text as ending_error_encoding
  from target t
  cross join clock k
  where t.act = 'skip' or t.act = 'end' and t.ended_flow_id not in (select flow_id from stuck_flow)
),
-- from src/engine/transition/ending.ts: endExecutionsClosing
ended as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'terminal',
    ownership_state = 'unowned',
    eligibility_state = 'not_applicable',
    interruption = 'none',
    terminal_outcome = n.ending_outcome,
    attempt_state = case
      when e.total_attempt_count > 0 then 'attempt_terminal'::flowfabric.ff_attempt_state
      when n.ending_outcome in ('cancelled', 'expired') then 'pending_first_attempt'::flowfabric.ff_attempt_state
      else 'none'::flowfabric.ff_attempt_state
    end,
    terminal_at_ms = greatest(n.ended_at_ms, e.last_mutation_at_ms),
    last_mutation_at_ms = greatest(n.ended_at_ms, e.last_mutation_at_ms),
    delay_until_ms = null,
    parked_at_ms = null,
    parked_state = null,
    deadline_at_ms = null,
    attempt_deadline_at_ms = null,
    cancel_deadline_at_ms = null,
    failure_reason = case when n.ending_outcome in ('failed', 'expired', 'skipped') then n.ending_reason end,
    cancellation_reason = case when n.ending_outcome = 'cancelled' then n.ending_reason end,
    cancelled_by = case when n.ending_outcome = 'cancelled' then n.ending_actor end
  from ending n
  where e.execution_id = any (array[n.execution_id])
  returning e.execution_id, n.ownership_state = 'leased' as was_leased, n.attempt_state as attempt_state_before,
    e.attached, e.partition_key, e.namespace, e.flow_id, e.parent_id, e.generation, e.attempt_index, e.terminal_outcome,
    e.terminal_at_ms, n.ending_reason, n.ending_actor, n.ending_result, n.ending_encoding, n.ending_category,
    n.ending_error, n.ending_error_encoding
),
ended_ready as (
  delete from flowfabric.ff_ready r
  using ending n
  where n.eligibility_state = 'eligible_now'
    and r.queue_id = any (array[n.queue_id]) and r.neg_priority = -n.priority and r.rank = n.rank and r.execution_id = n.execution_id
),
ended_lease as (
  delete from flowfabric.ff_lease l
  using ended d
  where d.was_leased and l.execution_id = any (array[d.execution_id])
  returning l.is_continued, d.execution_id, d.attached, d.attempt_index, d.generation, d.partition_key, d.namespace, d.flow_id,
    d.terminal_outcome, d.terminal_at_ms, d.ending_reason, d.ending_actor, d.ending_category, d.ending_error,
    d.ending_error_encoding, l.lease_id, l.lease_epoch, l.expires_at_ms, l.attempt_type, l.attempt_started_at_ms,
    l.worker_id, l.worker_instance_id
),
ended_attempt as (
  insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
    started_at_ms, ended_at_ms, outcome, worker_id, worker_instance_id, failure_reason, failure_category, error,
    error_encoding)
  select execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch, attempt_started_at_ms,
    terminal_at_ms, terminal_outcome, worker_id, worker_instance_id, ending_reason, ending_category, ending_error,
    ending_error_encoding
  from ended_lease
  where not is_continued
),
ended_continued as (
  update flowfabric.ff_attempt a
  set ended_at_ms = d.terminal_at_ms, outcome = d.terminal_outcome, failure_reason = d.ending_reason,
    failure_category = d.ending_category, error = d.ending_error, error_encoding = d.ending_error_encoding,
    lease_id = coalesce(d.lease_id, a.lease_id), lease_epoch = coalesce(d.lease_epoch, a.lease_epoch),
    worker_id = coalesce(d.worker_id, a.worker_id),
    worker_instance_id = coalesce(d.worker_instance_id, a.worker_instance_id)
  from (
    select execution_id, attempt_index, terminal_at_ms, terminal_outcome, ending_reason, ending_category, ending_error,
      ending_error_encoding, lease_id, lease_epoch, worker_id, worker_instance_id
    from ended_lease
    where is_continued
    union all
    select execution_id, attempt_index, terminal_at_ms, terminal_outcome, ending_reason, ending_category, ending_error,
      ending_error_encoding, null, null, null, null
    from ended
    where attempt_state_before = 'attempt_interrupted'
  ) d
  where a.execution_id = any (array[d.execution_id]) and a.attempt_index = d.attempt_index
),
ended_result as (
  insert into flowfabric.ff_exec_result (execution_id, generation, attempt_index, created_at_ms, result, result_encoding)
  select execution_id, generation, attempt_index, terminal_at_ms, ending_result, ending_encoding
  from ended
  where ending_result is not null
),
ended_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, outcome, partition_key,
    namespace, actor, reason, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id, details)
  select terminal_at_ms, execution_id, flow_id, generation, 'ended'::flowfabric.ff_event_type, terminal_outcome,
    partition_key, namespace, ending_actor, ending_reason,
    -- Time ended it: the deadline, a timeout, or an expiry after which it may not continue.
    case when terminal_outcome = 'expired' or expires_at_ms < terminal_at_ms
        then 'expired'::flowfabric.ff_lease_effect else 'revoked'::flowfabric.ff_lease_effect end,
    lease_id, lease_epoch, attempt_index, worker_instance_id, case when d.attached & 256 /* signals */ <> 0 then (
      select case when count(*) > 0 then jsonb_build_object('untakenSignals', count(*)) end
      from (
        -- from src/engine/transition/untaken-signals.ts: waitingByName
        select g.*
        from flowfabric.ff_signal g
        where g.execution_id = d.execution_id
          and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
          and g.generation = d.generation and g.taken_at_ms is null
        offset 0
        -- end of waitingByName
      ) g) end
  from ended_lease d
  union all
  select terminal_at_ms, execution_id, flow_id, generation, 'ended', terminal_outcome, partition_key, namespace,
    ending_actor, ending_reason, null, null, null,
    case when attempt_state_before <> 'pending_first_attempt' then attempt_index end, null,
    case when d.attached & 256 /* signals */ <> 0 then (
      select case when count(*) > 0 then jsonb_build_object('untakenSignals', count(*)) end
      from (
        -- from src/engine/transition/untaken-signals.ts: waitingByName
        select g.*
        from flowfabric.ff_signal g
        where g.execution_id = d.execution_id
          and coalesce(g.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid) = '00000000-0000-0000-0000-000000000000'::uuid
          and g.generation = d.generation and g.taken_at_ms is null
        offset 0
        -- end of waitingByName
      ) g) end
  from ended d
  where not was_leased
),
ended_dispatch as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, parent_id, created_at_ms, outcome, has_children)
  select execution_id, generation, flow_id, parent_id, terminal_at_ms, terminal_outcome, attached & 64 /* children */ <> 0
  from ended
  where attached & 112 /* flow | parent | children */ <> 0
),
ended_suspension as (
  update flowfabric.ff_suspension_current s
  set closed_at_ms = d.terminal_at_ms, close_reason = case d.terminal_outcome
    when 'cancelled' then 'cancelled' when 'skipped' then 'cancelled' when 'expired' then 'expired'
    -- Its holder ended it, so it was not suspended: a waitpoint that is still open was created ahead and never used.
    else 'never_committed' end, timeout_at_ms = null, wake_at_ms = null
  from ended d
  where d.attached & 2 /* suspension */ <> 0 and s.execution_id = any (array[d.execution_id]) and s.closed_at_ms is null
),
ended_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = d.terminal_at_ms, close_reason = case d.terminal_outcome
    when 'cancelled' then 'cancelled' when 'skipped' then 'cancelled' when 'expired' then 'expired'
    -- Its holder ended it, so it was not suspended: a waitpoint that is still open was created ahead and never used.
    else 'never_committed' end, expires_at_ms = null
  from ended d
  where d.attached & 3 /* waitpoints | suspension */ <> 0 and p.execution_id = any (array[d.execution_id])
    and p.state <> 'closed'
),
-- end of endExecutionsClosing
-- Whom several want cancelled has one row.
cancelling as materialized (
  select distinct on (c.execution_id) c.*
  from (
    select u.execution_id, u.generation, u.flow_id, k.now_ms, 'sibling_quorum_' || g.state::text as reason,
      'dispatch' as actor
    from grouped g
    cross join clock k
    join flowfabric.ff_edge x on x.downstream_id = any (array[g.downstream_id])
    join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
    where g.is_fired and g.on_satisfied = 'cancel_remaining' and not g.is_cancelled
      and g.downstream_id not in (select execution_id from stuck)
      and x.kind <> 'start' and u.lifecycle_phase <> 'terminal'
    union all
    select u.execution_id, u.generation, u.flow_id, a.now_ms, 'flow_cancelled', 'cancel_flow'
    from flow_after a
    cross join lateral (
      select u.execution_id, u.generation, u.flow_id
      from flowfabric.ff_flow_member m
      join flowfabric.ff_exec_core u on u.execution_id = any (array[m.execution_id])
      where m.flow_id = a.flow_id and u.lifecycle_phase <> 'terminal'
      offset 0
    ) u
    where a.is_marked
  ) c
  order by c.execution_id, c.reason desc
),
backlogged as (
  insert into flowfabric.ff_cancel_backlog as b (execution_id, generation, flow_id, created_at_ms, reason, actor)
  select execution_id, generation, flow_id, now_ms, reason, actor
  from cancelling
  on conflict (execution_id, generation) do update set created_at_ms = b.created_at_ms
  returning b.execution_id
),
-- The flow is told; so is nobody, where the flow is gone or the generation is over.
done as materialized (
  select execution_id, dispatch_row, owes_others
  from settled
  union all
  select execution_id, dispatch_row, owes_others
  from dispatch
  where is_seen and (root_flow_id is null or generation <> current_generation)
),
-- from src/engine/dispatch/settle.ts: payDispatches
paid as (
  delete from flowfabric.ff_dispatch d
  using done n
  where not n.owes_others and d.ctid = n.dispatch_row
),
-- end of payDispatches
paid_in_part as (
  update flowfabric.ff_dispatch d
  set flow_id = null, is_counted = true
  from done n
  where n.owes_others and d.ctid = n.dispatch_row
),
-- from src/engine/kernel/candidate.ts: takenUp
taken_up as (
  delete from flowfabric.ff_set_aside s
  where s.duty = 'dispatch'
    and (s.subject_id in (select execution_id from done)
      or s.retry_at_ms < flowfabric.ff_now_ms() - 3600000)
)
-- end of takenUp
-- Those whom a row owes besides may have passed it over, because it was held here.
-- from src/engine/dispatch/settle.ts: settledAnswer
select (select count(*) from dispatch) as seen, (select count(*) from done) as processed,
  (select min(created_at_ms) from dispatch) as oldest_ms,
  coalesce((select array_agg(distinct queue_id) from readied), '{}'::int4[]) as ready_queue_ids,
  (select min(delay_ms) from opened) as shortest_delay_ms,
  coalesce((select array_agg(flow_id) from changed_flow where is_ending), '{}'::uuid[]) as ended_flow_ids,
-- end of settledAnswer
  coalesce((select bit_or(attached & 112 /* flow | parent | children */) from ended), 0)
  | case when exists (select from done where owes_others) then 96 else 0 end
  | case when exists (select from started) or exists (select from ended_ahead) or (select count(*) from edge) >= $1 * 10 then 16 else 0 end
  | case when exists (select from backlogged) then 1073741824 /* cancels */ else 0 end as owes,
  -- Nobody runs what it skips, or what stands for a flow.
  '{}'::uuid[] as called_off_ids,
  (select count(*) from backlogged) as backlogged,
  array(
    -- from src/engine/dispatch/take-dispatches.ts: heldTrees
    select distinct flow_id
    from dispatch
    where is_taken and root_flow_id not in (select flow_id from tree) union select flow_id from stuck_flow
    where not (select count(*) from edge) >= $1 * 10) as held_flow_ids
    -- end of heldTrees
