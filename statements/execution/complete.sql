-- Made by `npm run sql`; do not edit.
-- execution.complete
-- src/engine/execution/complete.ts: completeStatement
-- 139 lines, 12 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 partition_keys int2[]
--   $3 namespaces text[] with nulls
--   $4 lease_ids uuid[]
--   $5 lease_epochs int8[]
--   $6 actors text[]
--   $7 result bytea[] with nulls
--   $8 result_encoding text[] with nulls
-- columns:
--   ordinal int8
--   is_held bool
--   is_last_holder bool
--   lease_epoch int8
--   public_state text
--   found_attempt int4
--   interruption text
--   pending_dispatch int4
--   has_more bool or null

-- from src/engine/kernel/set-request.ts: inputText
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::bytea[], $8::text[])
    with ordinality as i (execution_id, partition_key, namespace, given_lease_id, given_epoch, actor, result, result_encoding, ordinal)
),
-- end of inputText
-- from src/engine/transition/fence.ts: releasing
target as materialized (
  select e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.interruption, e.public_state,
    e.attempt_index as found_attempt, e.attached, seen.ctid as seen_row, e.ctid as execution_row, i.ordinal, i.given_lease_id,
    i.given_epoch, i.actor, i.result, i.result_encoding
  from input i
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_core e
    on e.ctid = seen.ctid
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  order by i.execution_id
  for no key update of e skip locked
),
-- from src/engine/kernel/after-lock.ts: clockAfter
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from target
  having count(*) >= 0
),
-- end of clockAfter
released as (
  delete from flowfabric.ff_lease l
  using target t
  cross join clock k
  where t.execution_row = t.seen_row and t.attached & 259 /* waitpoints | suspension | signals */ = 0
    and l.execution_id = any (array[t.execution_id]) and t.lifecycle_phase = 'active' and t.lease_id = t.given_lease_id
    and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms
  returning t.execution_id, t.execution_row, t.attached, t.actor, t.result, t.result_encoding, k.now_ms, l.is_continued, l.lease_id,
    l.lease_epoch, l.expires_at_ms, l.attempt_type, l.attempt_started_at_ms, l.worker_id, l.worker_instance_id
),
-- end of releasing
ending as (
  select v.execution_id, v.execution_row, v.is_continued, v.lease_id, v.lease_epoch, v.expires_at_ms, v.attempt_type,
    v.attempt_started_at_ms, v.worker_id, v.worker_instance_id,
    'success'::flowfabric.ff_terminal_outcome as ending_outcome, null::text as ending_reason,
    v.actor as ending_actor, v.now_ms as ended_at_ms, v.result as ending_result, v.result_encoding as ending_encoding,
    null::text as ending_category, null::bytea as ending_error, null::text as ending_error_encoding
  from released v
),
-- from src/engine/transition/ending.ts: endReleasedWith
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
  where e.ctid = n.execution_row
  returning e.execution_id, n.is_continued, n.lease_id, n.lease_epoch, n.expires_at_ms, n.attempt_type, n.attempt_started_at_ms,
    n.worker_id, n.worker_instance_id,
    e.attached, e.partition_key, e.namespace, e.flow_id, e.parent_id, e.generation, e.attempt_index, e.terminal_outcome,
    e.terminal_at_ms, n.ending_reason, n.ending_actor, n.ending_result, n.ending_encoding, n.ending_category,
    n.ending_error, n.ending_error_encoding
),
ended_attempt as (
  insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
    started_at_ms, ended_at_ms, outcome, worker_id, worker_instance_id, failure_reason, failure_category, error,
    error_encoding)
  select execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch, attempt_started_at_ms,
    terminal_at_ms, terminal_outcome, worker_id, worker_instance_id, ending_reason, ending_category, ending_error,
    ending_error_encoding
  from ended
  where not is_continued
),
ended_continued as (
  update flowfabric.ff_attempt a
  set ended_at_ms = d.terminal_at_ms, outcome = d.terminal_outcome, failure_reason = d.ending_reason,
    failure_category = d.ending_category, error = d.ending_error, error_encoding = d.ending_error_encoding,
    lease_id = coalesce(d.lease_id, a.lease_id), lease_epoch = coalesce(d.lease_epoch, a.lease_epoch),
    worker_id = coalesce(d.worker_id, a.worker_id),
    worker_instance_id = coalesce(d.worker_instance_id, a.worker_instance_id)
  from ended d
  where d.is_continued and a.execution_id = any (array[d.execution_id]) and a.attempt_index = d.attempt_index
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
    lease_id, lease_epoch, attempt_index, worker_instance_id, null::jsonb
  from ended d
),
ended_dispatch as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, parent_id, created_at_ms, outcome, has_children)
  select execution_id, generation, flow_id, parent_id, terminal_at_ms, terminal_outcome, attached & 64 /* children */ <> 0
  from ended
  where attached & 112 /* flow | parent | children */ <> 0
),
-- end of endReleasedWith
-- from src/engine/transition/fenced-answer.ts: releasedAnswerWith
written as materialized (
  select count(*) = cardinality($1::uuid[]) as is_whole, bit_or(attached & 112 /* flow | parent | children */) as pending_dispatch
  from released
)
select 0::int8 as ordinal, true as is_held, true as is_last_holder, null::int8 as lease_epoch,
  null::flowfabric.ff_public_state as public_state, null::int4 as found_attempt,
  null::flowfabric.ff_interruption as interruption, pending_dispatch, null::bool as has_more
from written
where is_whole
union all
select v.ordinal, v.is_held, v.is_last_holder, v.lease_epoch, v.public_state, v.found_attempt, v.interruption,
  v.attached & 112 /* flow | parent | children */ as pending_dispatch, v.has_more
from (
  select t.*, t.execution_id in (select execution_id from released) as is_held,
    coalesce(t.lease_id = t.given_lease_id and t.lease_epoch = t.given_epoch, false) as is_last_holder,
    t.attached & 259 /* waitpoints | suspension | signals */ <> 0 and exists (
      select
      from flowfabric.ff_lease l
      cross join clock k
      where l.execution_id = any (array[t.execution_id]) and t.lifecycle_phase = 'active' and t.lease_id = t.given_lease_id
        and t.lease_epoch = t.given_epoch and l.expires_at_ms > k.now_ms) as has_more
  from target t
  where t.execution_row = t.seen_row
) v
where not (select is_whole from written)
-- end of releasedAnswerWith
