// The way into a suspension: the holder gives up the execution, and no holder follows. It leaves: no lease, the attempt interrupted,
// one event, which is also the end of the lease.
//
// An earlier statement of the transaction has locked the execution and recorded the suspension. Outside of such a transaction an
// execution is never active beside an open suspension. So the statement suspends exactly those that the transaction has recorded.
import { attached } from '../../model/attached.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

const parkStatement = statement({
  name: 'suspension.park',
  params: { execution_ids: 'uuid[]', suspension_ids: 'uuid[]' },
  row: {},
  text: `
with parked as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'suspended',
    ownership_state = 'unowned',
    eligibility_state = 'not_applicable',
    attempt_state = 'attempt_interrupted',
    parked_at_ms = greatest(s.suspended_at_ms, e.last_mutation_at_ms),
    parked_state = 'suspended',
    attempt_deadline_at_ms = null,
    consecutive_expiry_count = 0,
    attached = e.attached | case when s.keeps_waitpoints then ${attached.suspension | attached.waitpoints}
      else ${attached.suspension} end,
    last_mutation_at_ms = greatest(s.suspended_at_ms, e.last_mutation_at_ms)
  from unnest($1::uuid[], $2::uuid[]) as i (execution_id, suspension_id)
  join flowfabric.ff_suspension_current s
    on s.execution_id = any (array[i.execution_id]) and s.suspension_id = i.suspension_id and s.closed_at_ms is null
  where e.execution_id = any (array[s.execution_id]) and e.lifecycle_phase = 'active'
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, e.last_mutation_at_ms,
    s.suspension_id, s.requested_by as actor, s.reason_code, s.timeout_at_ms
),
parked_lease as (
  delete from flowfabric.ff_lease l
  using parked d
  where l.execution_id = any (array[d.execution_id])
  returning l.is_continued, l.lease_id, l.lease_epoch, l.attempt_type, l.attempt_started_at_ms, l.worker_id,
    l.worker_instance_id, d.execution_id, d.partition_key, d.namespace, d.flow_id, d.generation, d.attempt_index,
    d.last_mutation_at_ms, d.suspension_id, d.actor, d.reason_code, d.timeout_at_ms
),
parked_attempt as (
  insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
    started_at_ms, outcome, worker_id, worker_instance_id)
  select execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch, attempt_started_at_ms, 'suspended',
    worker_id, worker_instance_id
  from parked_lease
  where not is_continued
),
-- An attempt that was interrupted before has its record already.
parked_continued as (
  update flowfabric.ff_attempt a
  set outcome = 'suspended', lease_id = d.lease_id, lease_epoch = d.lease_epoch, worker_id = d.worker_id,
    worker_instance_id = d.worker_instance_id, failure_reason = null, failure_category = null, error = null,
    error_encoding = null, next_at_ms = null
  from parked_lease d
  where d.is_continued and a.execution_id = any (array[d.execution_id]) and a.attempt_index = d.attempt_index
),
parked_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
    actor, reason, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id, details)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'suspended', partition_key, namespace, actor, reason_code,
    'revoked', lease_id, lease_epoch, attempt_index, worker_instance_id,
    case when timeout_at_ms is null then jsonb_build_object('suspensionId', suspension_id)
      else jsonb_build_object('suspensionId', suspension_id, 'timeoutAt', timeout_at_ms) end
  from parked_lease
)
select`,
})

/** Suspends executions that an earlier statement of the transaction has locked, and for which it has recorded a suspension. */
export function parkCall(items: readonly { readonly uuid: string; readonly suspensionId: string }[]) {
  return call(parkStatement, {
    execution_ids: items.map(({ uuid }) => uuid),
    suspension_ids: items.map(({ suspensionId }) => suspensionId),
  })
}
