// What the endings of a set make of the edges that lead from their members, and where the groups stand after that.
import { attached } from '../../model/attached.ts'
import { goesWithFlowSql } from '../transition/cancelled-flow.ts'
import { edgeResolution, groupState } from '../transition/group-rule.ts'

// One member may have edges to ten thousand others, and a set has many members.
const edgesForEach = 10

/** There may be more edges than were taken: then no member of the set is done with. */
export const isCutShort = `(select count(*) from edge) >= $1 * ${edgesForEach}`

/** Of the member that a flow stands for, null for an outermost one: nothing in that flow runs, whatever its edges would take. */
function isSkipped(standingId: string): string {
  return `(
      select s.terminal_outcome = 'skipped'
      from flowfabric.ff_exec_core s
      where s.execution_id = ${standingId}) is true`
}

/**
 * Follows `told`, the dispatch rows whose trees are locked, and `clock`. Gives `edge`, with what becomes of each, and
 * `grouped`, one row for each group that they lead to, as it will be.
 */
export const judgeEdges = `
edge as materialized (
  select x.ctid as edge_row, x.downstream_id, t.flow_id as upstream_flow_id, t.generation,
    case
      when x.kind <> 'start' and t.standing_id is not null and r.resolution = 'satisfied' and ${isSkipped('t.standing_id')}
        then 'skipped'::flowfabric.ff_edge_resolution
      else r.resolution
    end as resolution,
    -- The member ended before its flow could begin: that flow is cancelled, and its members with it.
    x.kind = 'start' and t.outcome not in ('none', 'skipped') as is_abandoned,
    case when x.kind <> 'start' then t.cancel_policy
      else (select i.cancel_policy from flowfabric.ff_flow_core i where i.flow_id = x.flow_id) end as cancel_policy
  from told t
  join flowfabric.ff_edge x on x.upstream_id = any (array[t.execution_id])
  cross join lateral (select ${edgeResolution('x.kind', 't.outcome')} as resolution) r
  where x.resolution is null
    and case when x.kind = 'start' then not t.is_starting else t.outcome <> 'none' and not t.is_ahead end
  limit $1 * ${edgesForEach}
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
    n.is_abandoned or ${goesWithFlowSql('n.cancel_policy', 'e.started_at_ms')} as is_cancelled,
    e.attached & ${attached.subFlow} <> 0 as is_flow,
    e.eligibility_state = 'blocked_by_dependencies' as is_blocked, e.ctid as seen_row, e.xmin as seen_xmin
  from gain n
  join flowfabric.ff_edge_group g on g.downstream_id = any (array[n.downstream_id])
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[n.downstream_id])
),
grouped as materialized (
  select s.*, s.state_before = 'pending' and s.state <> 'pending' as is_fired
  from (
    select s.*, case when s.state_before <> 'pending' then s.state_before else ${groupState({
      quorum: 's.quorum',
      total: 's.total',
      satisfied: 's.satisfied',
      failed: 's.failed',
      skipped: 's.skipped',
      isSealed: 's.is_sealed',
    })} end as state
    from summed s
  ) s
)`

// Of the group as it will be. A failure reaches through those that it skipped, and into a flow that was. A row is looked for by a
// scalar subquery: of an `exists`, the planner may collect all that there are.
/** Why the downstream of `grouped g` is skipped. */
export const skipReason = `case
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
    end`
