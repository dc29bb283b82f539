-- Made by `npm run sql`; do not edit.
-- flow.change
-- src/engine/transition/change-flows.ts: change
-- 44 lines, 3 CTEs
--
-- parameters:
--   $1 flow_ids uuid[]
--   $2 success_counts int4[]
--   $3 failed_counts int4[]
--   $4 cancelled_counts int4[]
--   $5 expired_counts int4[]
--   $6 skipped_counts int4[]
--   $7 are_closing bool[]
--   $8 are_beginning bool[]
--   $9 cancel_policies text[] with nulls
--   $10 flow_outcomes text[]
--   $11 cancel_reason text or null
--   $12 actor text
--   $13 now_ms int8
-- columns: none

with changing as materialized (
  select i.flow_id, i.success, i.failed, i.cancelled, i.expired, i.skipped, i.closes, i.begins,
    i.marks::flowfabric.ff_cancel_policy as marks, i.marks is not null as is_marked,
    i.ending_as::flowfabric.ff_terminal_outcome as ending_as, i.ending_as <> 'none' as is_ending,
    $11::text as mark_reason, $12::text as change_actor, $13::int8 as now_ms
  from unnest($1::uuid[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::int4[], $7::bool[], $8::bool[], $9::text[], $10::text[])
    as i (flow_id, success, failed, cancelled, expired, skipped, closes, begins, marks, ending_as)
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
  from changing a
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
)
-- end of changeFlows
select
from changed_flow
where false
