// How a flow changes, and when it ends: closed, and every member counted. Whoever counts members, cancels or closes puts a
// CTE `flow_change` before these fragments, under the lock of the tree's root.
//
// `flow_change` has one row for each flow that is written, the root of its tree among them whatever happens to it:
//   flow_id, flow_row                              the place of its row, which nobody else changes
//   success, failed, cancelled, expired, skipped   how many more of its members are counted so
//   closes          boolean: it takes no more members from now on
//   begins          boolean: the turn of the member that it stands for has come, or will not come any more
//   marks           ff_cancel_policy or null: it is cancelled, and how; with mark_reason text or null
//   change_actor    text
//   now_ms          bigint, read from the clock after the lock
import { evaluateEndings } from './evaluate-flow-ending.ts'

const flowsJudged = `
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
)`

/** `flawedAs`: how a flow `j` ends in which not every member succeeded. */
function flowsAfter(flawedAs: string): string {
  return `
flow_after as materialized (
  select j.*, e.execution_id as standing_id, e.ctid as standing_row, e.xmin as standing_xmin,
    case
      when not j.is_ending then 'none'
      when j.is_cancelled then 'cancelled'
      when j.is_flawless then 'success'
      else ${flawedAs}
    end::flowfabric.ff_terminal_outcome as ending_as
  from flow_judged j
  left join flowfabric.ff_exec_core e
    on j.is_ending and e.execution_id = any (array[j.member_id]) and e.lifecycle_phase <> 'terminal'
)`
}

/**
 * Follows `flow_change`. Gives `flow_after`, with `is_marked`, `is_ending`, `is_flawed` and `ending_as`; `has_ended_ahead` of a
 * flow that begins and of which members have ended before; and of a flow that ends and stands for a member which has not ended,
 * that member as `standing_id`, with `standing_row` and `standing_xmin`. Gives `skip_change` as `evaluateEndings` does.
 */
export const judgeFlows = `${flowsJudged},
${evaluateEndings},
${flowsAfter(`case when j.flow_id in (select flow_id from failed_flow) then 'failed' else 'success' end`)}`

/**
 * The same for statements that end a flow only when all its members succeeded or it is cancelled. A flow that is to end otherwise
 * has `is_flawed` set; the statement must leave it as it is.
 */
export const judgeFlawlessFlows = `${flowsJudged},
${flowsAfter(`'none'`)}`

/**
 * Follows a CTE with rows of `flow_after`, named by `from`. Gives `changed_flow`, and leaves an event of each that was
 * cancelled and of each that ended. Every row is written, because its version stands for the whole tree's.
 */
export function changeFlows(from: string): string {
  return `
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
  from ${from} a
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
)`
}

/** How the member that a flow stands for ends with it: outcome, reason and actor, of the flow's ending `a`. */
export const standingEnding = `a.ending_as as ending_outcome,
    case a.ending_as when 'failed' then 'flow_failed' when 'cancelled' then 'flow_cancelled' end as ending_reason,
    case when a.ending_as = 'cancelled' then 'cancel_flow' else a.change_actor end as ending_actor`
