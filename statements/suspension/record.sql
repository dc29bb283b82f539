-- Made by `npm run sql`; do not edit.
-- suspension.record
-- src/engine/waiting/suspension/record.ts: recordStatement
-- 24 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 suspension_ids uuid[]
--   $3 suspended_ats_ms int8[]
--   $4 closed_ats_ms int8[] with nulls
--   $5 timeout_ats_ms int8[] with nulls
--   $6 wake_ats_ms int8[] with nulls
--   $7 second_timeouts_ms int8[] with nulls
--   $8 resume_delays_ms int8[] with nulls
--   $9 reasons text[]
--   $10 timeout_behaviours text[]
--   $11 second_behaviours text[] with nulls
--   $12 keep_waitpoints bool[]
--   $13 requesters text[]
--   $14 idempotency_keys text[] with nulls
--   $15 conditions jsonb[]
--   $16 outcomes jsonb[] with nulls
--   $17 taken_nos text[] with nulls
-- columns: none

insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, closed_at_ms, close_reason,
  timeout_at_ms, wake_at_ms, second_timeout_ms, resume_delay_ms, lease_epoch, lease_id, generation, attempt_index,
  partition_key, reason_code, timeout_behavior, second_behavior, keeps_waitpoints, requested_by, idempotency_key, condition,
  outcome, signal_nos)
select i.execution_id, i.suspension_id, i.suspended_at_ms, i.closed_at_ms, case when i.closed_at_ms is not null then 'resumed' end,
  i.timeout_at_ms, i.wake_at_ms, i.second_timeout_ms, i.resume_delay_ms, e.lease_epoch, e.lease_id, e.generation,
  e.attempt_index, e.partition_key, i.reason::flowfabric.ff_suspension_reason,
  i.timeout_behaviour::flowfabric.ff_timeout_behavior, i.second_behaviour::flowfabric.ff_timeout_behavior, i.keeps_waitpoints,
  i.requested_by, i.idempotency_key, i.condition, i.outcome, i.signal_nos::int8[]
from unnest($1::uuid[], $2::uuid[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::text[],
  $10::text[], $11::text[], $12::bool[], $13::text[], $14::text[], $15::jsonb[], $16::jsonb[], $17::text[])
  as i (execution_id, suspension_id, suspended_at_ms, closed_at_ms, timeout_at_ms, wake_at_ms, second_timeout_ms,
    resume_delay_ms, reason, timeout_behaviour, second_behaviour, keeps_waitpoints, requested_by, idempotency_key, condition,
    outcome, signal_nos)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
on conflict (execution_id) do update
set (suspension_id, suspended_at_ms, closed_at_ms, close_reason, timeout_at_ms, wake_at_ms, second_timeout_ms,
  resume_delay_ms, lease_epoch, lease_id, generation, attempt_index, reason_code, timeout_behavior, second_behavior,
  keeps_waitpoints, requested_by, idempotency_key, condition, outcome, signal_nos, escalated_at_ms)
  = (excluded.suspension_id, excluded.suspended_at_ms, excluded.closed_at_ms, excluded.close_reason,
    excluded.timeout_at_ms, excluded.wake_at_ms, excluded.second_timeout_ms, excluded.resume_delay_ms,
    excluded.lease_epoch, excluded.lease_id, excluded.generation, excluded.attempt_index, excluded.reason_code,
    excluded.timeout_behavior, excluded.second_behavior, excluded.keeps_waitpoints, excluded.requested_by, excluded.idempotency_key,
    excluded.condition, excluded.outcome, excluded.signal_nos, null)
