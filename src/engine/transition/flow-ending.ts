// The write of flows that change, and the end of flows that a caller cancels. A statement puts a CTE `flow_change` before these
// fragments, under the lock of the outermost flow.
//
// `flow_change` has one row for each flow that is written, and one for the outermost flow in any case:
//   flow_id, flow_row                              the position of its row, which no other transaction changes
//   success, failed, cancelled, expired, skipped   how many more members are counted with this outcome
//   closes          boolean: the flow accepts no more members
//   begins          boolean: the member that the flow represents waits no more, or never will run
//   marks           ff_cancel_policy or null: the flow is cancelled, and how; with mark_reason text or null
//   change_actor    text
//   now_ms          bigint, read from the clock after the lock

/**
 * Follows `flow_change`, of flows that are cancelled and of their outermost flow. Yields `flow_after`, with `is_marked`, `is_ending`
 * and `ending_as`. For a flow that ends and represents a member which has not ended, `standing_id` is that member.
 * `src/model/resolve-endings.ts` decides how other flows end.
 */
export const endCancelledFlows = `
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
)`

/**
 * Follows a CTE with rows of `flow_after`, named by `from`. Yields `changed_flow`, and writes an event for each flow that was
 * cancelled and for each that ended. Every row is written, because retention reads the version of the outermost flow.
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
)`
}
