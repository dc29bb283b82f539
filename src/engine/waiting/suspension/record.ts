// The record of a suspension, which replaces the one before. A suspension whose condition is satisfied at once and that
// kept its lease is recorded too, as closed, so that a repeated call has the same result.
import { call } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import { numbersTakenBy, type NewlySuspended } from './evaluate.ts'
import { numbersSql } from '../../transition/wake.ts'

/** Ends an insert into `ff_suspension_current`. */
export const inPlaceOfTheLast = `
on conflict (execution_id) do update
set (suspension_id, suspended_at_ms, closed_at_ms, close_reason, timeout_at_ms, wake_at_ms, second_timeout_ms,
    resume_delay_ms, lease_epoch, lease_id, generation, attempt_index, reason_code, timeout_behavior, second_behavior,
    keeps_waitpoints, requested_by, idempotency_key, condition, outcome, signal_nos, escalated_at_ms)
  = (excluded.suspension_id, excluded.suspended_at_ms, excluded.closed_at_ms, excluded.close_reason,
    excluded.timeout_at_ms, excluded.wake_at_ms, excluded.second_timeout_ms, excluded.resume_delay_ms,
    excluded.lease_epoch, excluded.lease_id, excluded.generation, excluded.attempt_index, excluded.reason_code,
    excluded.timeout_behavior, excluded.second_behavior, excluded.keeps_waitpoints, excluded.requested_by, excluded.idempotency_key,
    excluded.condition, excluded.outcome, excluded.signal_nos, null)`

const recordStatement = statement({
  name: 'suspension.record',
  params: {
    execution_ids: 'uuid[]',
    suspension_ids: 'uuid[]',
    suspended_ats_ms: 'int8[]',
    closed_ats_ms: 'int8?[]',
    timeout_ats_ms: 'int8?[]',
    wake_ats_ms: 'int8?[]',
    second_timeouts_ms: 'int8?[]',
    resume_delays_ms: 'int8?[]',
    reasons: 'text[]',
    timeout_behaviours: 'text[]',
    second_behaviours: 'text?[]',
    keep_waitpoints: 'bool[]',
    requesters: 'text[]',
    idempotency_keys: 'text?[]',
    conditions: 'jsonb[]',
    outcomes: 'jsonb?[]',
    taken_nos: 'text?[]',
  },
  row: {},
  text: `
insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, closed_at_ms, close_reason,
  timeout_at_ms, wake_at_ms, second_timeout_ms, resume_delay_ms, lease_epoch, lease_id, generation, attempt_index,
  partition_key, reason_code, timeout_behavior, second_behavior, keeps_waitpoints, requested_by, idempotency_key, condition,
  outcome, signal_nos)
select i.execution_id, i.suspension_id, i.suspended_at_ms, i.closed_at_ms, case when i.closed_at_ms is not null then 'resumed' end,
  i.timeout_at_ms, i.wake_at_ms, i.second_timeout_ms, i.resume_delay_ms, e.lease_epoch, e.lease_id, e.generation,
  e.attempt_index, e.partition_key, i.reason::flowfabric.ff_suspension_reason,
  i.timeout_behaviour::flowfabric.ff_timeout_behavior, i.second_behaviour::flowfabric.ff_timeout_behavior, i.keeps_waitpoints, i.requested_by,
  i.idempotency_key, i.condition, i.outcome, i.signal_nos::int8[]
from unnest($1::uuid[], $2::uuid[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::text[],
    $10::text[], $11::text[], $12::bool[], $13::text[], $14::text[], $15::jsonb[], $16::jsonb[], $17::text[])
  as i (execution_id, suspension_id, suspended_at_ms, closed_at_ms, timeout_at_ms, wake_at_ms, second_timeout_ms,
    resume_delay_ms, reason, timeout_behaviour, second_behaviour, keeps_waitpoints, requested_by, idempotency_key, condition,
    outcome, signal_nos)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
${inPlaceOfTheLast}`,
})

/** For executions that an earlier statement of the transaction has locked: they still have the lease of their holder. */
export function recordCall(suspended: readonly NewlySuspended[]) {
  return call(recordStatement, {
    execution_ids: suspended.map(({ item }) => item.uuid),
    suspension_ids: suspended.map(({ item }) => item.suspensionId),
    suspended_ats_ms: suspended.map(({ row }) => row.now_ms),
    closed_ats_ms: suspended.map(({ row, isAtOnce }) => (isAtOnce ? row.now_ms : null)),
    timeout_ats_ms: suspended.map(({ timeoutAt, isAtOnce }) => (isAtOnce ? null : timeoutAt)),
    wake_ats_ms: suspended.map(({ evaluation, isAtOnce }) => (isAtOnce ? null : evaluation.dueAt)),
    second_timeouts_ms: suspended.map(({ item }) => item.secondTimeoutMs),
    resume_delays_ms: suspended.map(({ item }) => item.resumeDelayMs),
    reasons: suspended.map(({ item }) => item.reason),
    timeout_behaviours: suspended.map(({ item }) => item.timeoutBehaviour),
    second_behaviours: suspended.map(({ item }) => item.secondBehaviour),
    keep_waitpoints: suspended.map(({ item }) => item.keepsWaitpoints),
    requesters: suspended.map(({ item }) => item.actor),
    idempotency_keys: suspended.map(({ item }) => item.idempotencyKey),
    conditions: suspended.map(({ item }) => item.condition),
    outcomes: suspended.map(({ evaluation, isAtOnce }) => (isAtOnce ? { ...evaluation, atOnce: true } : null)),
    taken_nos: suspended.map((one) => (one.isAtOnce ? numbersSql(numbersTakenBy(one)) : null)),
  })
}
