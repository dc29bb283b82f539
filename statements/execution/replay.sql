-- Made by `npm run sql`; do not edit.
-- execution.replay
-- src/engine/execution/replay.ts: replayStatement
-- 125 lines, 12 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 actors text[]
--   $5 reason text[] with nulls
--   $6 request_id text[] with nulls
--   $7 from_name text[] with nulls
--   $8 from_index int4[]
--   $9 may_repeat bool[]
-- columns:
--   ordinal int8
--   queue_id int4
--   public_state text
--   generation int4 or null
--   replay_count int4 or null
--   most_replays int4 or null
--   next_deadline_ms int8 or null
--   deadline_dropped bool or null
--   is_member bool or null
--   is_from_known bool or null
--   repeated jsonb or null

-- from src/engine/kernel/set-request.ts: inputText
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int4[], $9::bool[])
    with ordinality as i (execution_id, partition_key, namespace, actor, reason, request_id, from_name, from_index, may_repeat, ordinal)
),
-- end of inputText
-- from src/engine/transition/operator-set.ts: lockedTarget
target as materialized (
  select e.*, i.ordinal, i.actor, i.reason, i.request_id, i.from_name, i.from_index, i.may_repeat
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
),
-- end of lockedTarget
-- from src/engine/execution/request-memory.ts: repeatedRequests
repeated as materialized (
  select t.ordinal, r.answer
  from target t
  join flowfabric.ff_request r
    on r.execution_id = any (array[t.execution_id]) and r.request_id = any (array[t.request_id])
  where t.may_repeat
),
-- end of repeatedRequests
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
evaluated as materialized (
  select t.*, c.now_ms, t.flow_id is not null as is_member,
    coalesce((n.policy ->> 'maxReplayCount')::int4, 10) as most_replays,
    case when n.deadline_after_ms is not null then c.now_ms + n.deadline_after_ms
      when n.deadline_at_ms > c.now_ms then n.deadline_at_ms end as next_deadline_ms,
    coalesce(n.deadline_at_ms <= c.now_ms, false) as deadline_dropped,
    s.step_no as from_no, t.from_name is null or s.step_no is not null as is_from_known,
    (select r.answer from repeated r where r.ordinal = t.ordinal) as repeated
  from target t
  cross join clock c
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
  left join lateral (
    select f.step_no
    from flowfabric.ff_step f
    where f.execution_id = t.execution_id and f.generation = t.generation
      and f.step_name = t.from_name and f.step_index = t.from_index and f.kind not in ('compensation', 'hook')
    limit 1
  ) s on true
),
reopening as materialized (
  select j.*, false as is_blocked, true as is_requested, j.actor as reopening_actor, j.reason as reopening_reason
  from evaluated j
  where j.lifecycle_phase = 'terminal' and j.replay_count < j.most_replays and not j.is_member
    and j.is_from_known and j.repeated is null
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
-- from src/engine/execution/request-memory.ts: rememberRequests
remembered as (
  insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
  select t.execution_id, t.request_id,
    jsonb_build_object('generation', t.generation + 1, 'replayCount', t.replay_count + 1, 'from', t.public_state, 'deadlineAt',
      t.next_deadline_ms, 'deadlineDropped', t.deadline_dropped), t.now_ms
  from reopening t
),
-- end of rememberRequests
kept_steps as (
  insert into flowfabric.ff_step (execution_id, generation, step_name, step_index, step_no, place, kind, state, try_count,
    attempt_index, lease_epoch, recorded_at_ms, due_at_ms, duration_ms, origin_id, total_bytes, total_count, result,
    result_encoding, made_no)
  select r.execution_id, r.generation + 1, s.step_name, s.step_index, s.step_no + (1::int8 << 32), s.place, s.kind,
    s.state, s.try_count, s.attempt_index, s.lease_epoch, s.recorded_at_ms, s.due_at_ms, s.duration_ms, s.origin_id,
    s.kept_bytes, s.kept_count, s.result, s.result_encoding, s.made_no
  from reopening r
  cross join lateral (
    select f.*, sum(coalesce(octet_length(f.result), 0)) over earlier as kept_bytes, count(*) over earlier as kept_count
    from flowfabric.ff_step f
    where f.execution_id = r.execution_id and f.step_no > 0
      and f.step_no > (r.generation::int8 << 32) and f.step_no < r.from_no
      and f.state in ('succeeded', 'timed_out')
      -- The code registers its compensations again.
      and f.kind not in ('compensation', 'hook')
    window earlier as (order by f.step_no)
  ) s
)
-- from src/engine/transition/operator-set.ts: targetAnswer
select v.ordinal, v.queue_id, v.public_state, v.generation, v.replay_count, v.most_replays, v.next_deadline_ms, v.deadline_dropped,
  v.is_member, v.is_from_known, v.repeated
from evaluated v
-- end of targetAnswer
