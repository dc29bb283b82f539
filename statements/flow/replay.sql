-- Made by `npm run sql`; do not edit.
-- flow.replay
-- src/engine/flow/replay-member.ts: write
-- 137 lines, 14 CTEs
--
-- parameters:
--   $1 root_flow_id uuid
--   $2 execution_ids uuid[]
--   $3 are_blocked bool[]
--   $4 are_asked bool[]
--   $5 actor text
--   $6 reason text or null
--   $7 edge_flow_ids uuid[]
--   $8 edge_ids uuid[]
--   $9 downstream_ids uuid[]
--   $10 satisfied_counts int4[]
--   $11 failed_counts int4[]
--   $12 skipped_counts int4[]
--   $13 group_states text[]
-- columns:
--   execution_id uuid
--   queue_id int4
--   is_ready bool

with target as materialized (
  select e.*, i.is_blocked, i.is_requested
  from unnest($2::uuid[], $3::bool[], $4::bool[]) as i (execution_id, is_blocked, is_requested)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  order by i.execution_id
  for no key update of e
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
reopening as materialized (
  select t.*, c.now_ms, case when n.deadline_after_ms is not null then c.now_ms + n.deadline_after_ms
    when n.deadline_at_ms > c.now_ms then n.deadline_at_ms end as next_deadline_ms, $5::text as reopening_actor,
    $6::text as reopening_reason
  from target t
  cross join clock c
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
),
-- from src/engine/transition/reopen.ts: reopenExecutions
reopened as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'runnable',
    eligibility_state = case when r.is_blocked then 'blocked_by_dependencies'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    attempt_state = 'pending_replay_attempt',
    terminal_outcome = 'none',
    terminal_at_ms = null,
    parked_at_ms = case when r.is_blocked then greatest(r.now_ms, r.last_mutation_at_ms) end,
    parked_state = case when r.is_blocked then 'waiting_children'::flowfabric.ff_public_state end,
    generation = r.generation + 1,
    replay_count = r.replay_count + r.is_requested::int4,
    retry_count = 0,
    lease_reclaim_count = 0,
    consecutive_expiry_count = 0,
    attached = r.attached & ~24963 /* waitpoints | suspension | grant | signals | compensation | onFailure */,
    deadline_at_ms = r.next_deadline_ms,
    cancel_requested_at_ms = null,
    stop_outcome = null,
    failure_reason = null,
    cancellation_reason = null,
    cancelled_by = null,
    last_mutation_at_ms = greatest(r.now_ms, r.last_mutation_at_ms)
  from reopening r
  where e.execution_id = any (array[r.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.queue_id, e.priority, e.rank,
    e.eligibility_state, e.last_mutation_at_ms, r.reopening_actor, r.reopening_reason, r.terminal_outcome as old_outcome,
    r.attempt_index as old_attempt_index
),
reopened_ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from reopened
  where eligibility_state = 'eligible_now'
),
reopened_grant as (
  delete from flowfabric.ff_grant g
  using reopened d
  where g.execution_id = any (array[d.execution_id])
),
reopened_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, reason, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'replayed', partition_key, namespace, reopening_actor,
    reopening_reason, jsonb_build_object('outcome', old_outcome, 'attemptIndex', old_attempt_index)
  from reopened
),
-- end of reopenExecutions
opened_edge as (
  update flowfabric.ff_edge x
  set resolution = null, resolved_generation = null
  from unnest($7::uuid[], $8::uuid[]) as i (flow_id, edge_id)
  where x.flow_id = any (array[i.flow_id]) and x.edge_id = any (array[i.edge_id])
),
opened_group as (
  update flowfabric.ff_edge_group g
  set satisfied = i.satisfied, failed = i.failed, skipped = i.skipped, state = i.state::flowfabric.ff_group_state,
    fired_at_ms = case when i.state = 'pending' then null else g.fired_at_ms end
  from unnest($9::uuid[], $10::int4[], $11::int4[], $12::int4[], $13::text[])
    as i (downstream_id, satisfied, failed, skipped, state)
  where g.downstream_id = any (array[i.downstream_id])
),
counted as materialized (
  select t.flow_id, t.terminal_outcome,
    -- Not an ending that is still owed.
    case when (
      select d.generation
      from flowfabric.ff_dispatch d
      where d.execution_id = t.execution_id and d.generation = t.generation and d.outcome = t.terminal_outcome
        and not d.is_counted) is null then t.terminal_outcome end as counted_outcome,
    case when t.attached & 512 /* subFlow */ <> 0 then (
      select m.sub_flow_id
      from flowfabric.ff_flow_member m
      where m.flow_id = t.flow_id and m.execution_id = t.execution_id) end as sub_flow_id
  from target t
),
loss as materialized (
  select flow_id, count(*) filter (where outcome = 'success') as success,
    count(*) filter (where outcome = 'failed') as failed, count(*) filter (where outcome = 'cancelled') as cancelled,
    count(*) filter (where outcome = 'expired') as expired, count(*) filter (where outcome = 'skipped') as skipped,
    bool_or(is_reopened) as is_reopened, bool_or(is_held) as is_held
  from (
    select flow_id, counted_outcome as outcome, true as is_reopened, false as is_held from counted
    union all
    select $1, null, false, false
    union all
    -- The flow that a reopened member represents waits with it. It may have ended without a reopened member.
    select sub_flow_id, null, true, true from counted where terminal_outcome = 'skipped' and sub_flow_id is not null
  ) c
  group by flow_id
),
found_flow as materialized (
  select l.*, l.is_reopened and f.ended_at_ms is not null as was_ended, c.now_ms
  from loss l
  cross join clock c
  join flowfabric.ff_flow_core f on f.flow_id = any (array[l.flow_id])
),
opened_flow as (
  update flowfabric.ff_flow_core f
  set success_count = f.success_count - l.success,
    failed_count = f.failed_count - l.failed,
    cancelled_count = f.cancelled_count - l.cancelled,
    expired_count = f.expired_count - l.expired,
    skipped_count = f.skipped_count - l.skipped,
    ended_at_ms = case when not l.is_reopened then f.ended_at_ms end,
    is_held = f.is_held or l.is_held,
    outcome = case when l.is_reopened then 'none'::flowfabric.ff_terminal_outcome else f.outcome end,
    last_mutation_at_ms = greatest(l.now_ms, f.last_mutation_at_ms)
  from found_flow l
  where f.flow_id = any (array[l.flow_id])
  returning f.flow_id, f.partition_key, f.namespace, f.last_mutation_at_ms, l.was_ended
),
opened_flow_event as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor, reason)
  select last_mutation_at_ms, flow_id, 'flow_reopened', partition_key, namespace, $5, $6
  from opened_flow
  where was_ended
)
select execution_id, queue_id, eligibility_state = 'eligible_now' as is_ready
from reopened
