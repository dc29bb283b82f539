// What a set does to its flows: edges and groups are resolved, members counted, flows ended.
import { changeFlows } from '../transition/flow-ending.ts'
import { isCutShort } from './judge-edges.ts'
import { dispatchDuty } from './take-dispatches.ts'

/** Follows `told` and `clock`. Gives `flow_change`, for the fragments of a flow's ending. */
export const countMembers = `
flow_change as (
  select c.flow_id, c.flow_row, count(*) filter (where c.outcome = 'success') as success,
    count(*) filter (where c.outcome = 'failed') as failed,
    count(*) filter (where c.outcome = 'cancelled') as cancelled,
    count(*) filter (where c.outcome = 'expired') as expired,
    count(*) filter (where c.outcome = 'skipped') as skipped,
    bool_or(c.closes) as closes, bool_or(c.begins) as begins, max(c.marks) as marks, 'member_ended' as mark_reason,
    '${dispatchDuty}' as change_actor, k.now_ms
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
)`

/**
 * Follows `told`, `edge`, `grouped`, `flow_after` and `stuck`, the executions on which this statement cannot act. Nothing is
 * resolved that leads to one of these. Gives `settled`, the dispatch rows with which the flows are done; and `stuck_flow`,
 * the flows that are not. `leftFlows` selects more of these.
 */
export function settle(leftFlows: string): string {
  return `
-- All members of a flow that are in the set, or none: so it is judged once.
stuck_flow as materialized (
  select flow_id
  from told
  where ${isCutShort}
  union all
  select upstream_flow_id
  from edge
  where (downstream_id in (select execution_id from stuck)) is true
  union all
  select flow_id
  from flow_after
  where (standing_id in (select execution_id from stuck)) is true
  union all
  ${leftFlows}
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
${changeFlows('flow_settled')}`
}

/** Deletes the dispatch rows of a CTE, as far as nobody else is owed. */
export function payDispatches(from: string): string {
  return `
paid as (
  delete from flowfabric.ff_dispatch d
  using ${from} n
  where not n.owes_others and d.ctid = n.dispatch_row
)`
}

/** The columns of the answer that tell others what they can do now. */
export const settledAnswer = `coalesce((select array_agg(distinct queue_id) from readied), '{}'::int4[]) as ready_queue_ids,
  (select min(delay_ms) from opened) as shortest_delay_ms,
  coalesce((select array_agg(flow_id) from changed_flow where is_ending), '{}'::uuid[]) as ended_flow_ids`
