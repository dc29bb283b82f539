// The rules of `model/flow-ending.ts` in SQL, for flows that end with members that did not succeed.
//
// Everything is read from the members' endings and from all edges between them, in whatever order these were resolved; an edge
// that the statement itself resolves counts by how its upstream ended. Rows are looked up from the members that did not succeed,
// so the cost is that of their edges (measured: a second for 10,000 members and 100,000 edges, all cancelled or skipped, on a busy
// machine). Large sets are matched by a window over both: a join of two would be a nested loop.
import { attached } from '../../model/attached.ts'
import { edgeResolution, groupState } from './group-rule.ts'

const isFailure = (outcome: string) => `${outcome} in ('failed', 'cancelled', 'expired')`

const flawedMembers = (flowId: string) => `
    select e.execution_id, e.terminal_outcome as outcome, e.failure_reason, e.ctid as seen_row, e.xmin as seen_xmin,
      case when e.attached & ${attached.subFlow} <> 0 then m.sub_flow_id end as sub_flow_id
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = ${flowId} and e.terminal_outcome not in ('none', 'success')
    offset 0`

/**
 * Follows `flow_judged`. Gives `failed_flow`, the flows that end as failed; and `skip_change`, the skipped members of flows that
 * end whose reason is another one by now, with the flow that ends, the place of their row and the `reason`.
 */
export const evaluateEndings = `
-- Of the flows that end, and of the flows in their skipped members: why those were skipped is decided here, too.
flawed_member as materialized (
  with recursive flawed (ending_flow_id, flow_id, execution_id, outcome, failure_reason, seen_row, seen_xmin, sub_flow_id) as (
    select j.flow_id, j.flow_id, m.*
    from flow_judged j
    cross join lateral (${flawedMembers('j.flow_id')}
    ) m
    where j.is_flawed
    union all
    select f.ending_flow_id, f.sub_flow_id, m.*
    from flawed f
    cross join lateral (${flawedMembers('f.sub_flow_id')}
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
    select ${edgeResolution('x.kind', 'm.outcome')} = 'satisfied' as is_satisfied, (x.resolution = 'satisfied') is true as was_satisfied
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
      cross join lateral (select ${edgeResolution('y.kind', 'u.terminal_outcome')} as resolution) r
      where g.satisfied + g.failed + g.skipped < g.total
        and y.downstream_id = any (array[g.downstream_id]) and y.resolution is null
    ) n
    cross join lateral unnest(x.upstream_ids || case when g.satisfied + n.satisfied > g.quorum then x.replayed_ids end)
      as h (execution_id)
    where case when g.state <> 'pending' then g.state else ${groupState({
      quorum: 'g.quorum',
      total: 'g.total',
      satisfied: 'g.satisfied + n.satisfied',
      failed: 'g.failed + n.failed',
      skipped: 'g.skipped + n.skipped',
      isSealed: 'true',
    })} end = 'satisfied'
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
      where flow_id = ending_flow_id and ${isFailure('outcome')}
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
        select d.execution_id, d.attached & ${attached.subFlow} <> 0 as is_flow
        from flowfabric.ff_edge x
        join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
        where x.upstream_id = any (array[m.execution_id]) and x.kind = 'success_only' and d.terminal_outcome = 'skipped'
        offset 0
      ) d
      where ${isFailure('m.outcome')}
      union
      select d.execution_id, d.is_flow
      from flow_judged j
      cross join lateral (
        select d.execution_id, d.attached & ${attached.subFlow} <> 0 as is_flow
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
      select d.execution_id, d.attached & ${attached.subFlow} <> 0 as is_flow
      from flowfabric.ff_edge x
      join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
      where x.upstream_id = any (array[k.execution_id]) and x.kind <> 'optional' and d.terminal_outcome = 'skipped'
      union all
      select d.execution_id, d.attached & ${attached.subFlow} <> 0
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
)`

/**
 * Follows `restated`, rows of `skip_change` with their rows locked in `target_row`. The event of a skip keeps the reason that was
 * known then.
 */
export const restateSkips = `
restated_skip as (
  update flowfabric.ff_exec_core e
  set failure_reason = r.reason
  from restated r
  where e.ctid = r.target_row
)`
