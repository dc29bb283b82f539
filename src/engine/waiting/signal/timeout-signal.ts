// The signal that a suspension sends itself when it times out and resumes: recorded like any other, and taken at once.
import { call } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import { receivedCount } from '../earlier-signals.ts'

const sendTimeout = statement({
  name: 'suspension.timeout-signal',
  params: {
    execution_ids: 'uuid[]',
    suspension_ids: 'uuid[]',
    signal_ids: 'uuid[]',
    signal_nos: 'int8[]',
    actor: 'text',
    at_ms: 'int8',
  },
  row: {},
  text: `
with sent as materialized (
  select e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, i.suspension_id,
    i.signal_id, i.signal_no
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int8[]) as i (execution_id, suspension_id, signal_id, signal_no)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
signal as (
  insert into flowfabric.ff_signal (execution_id, signal_no, signal_id, suspension_id, accepted_at_ms, taken_at_ms,
    generation, received_count, effect, signal_name, signal_category, source_type, source_identity)
  select execution_id, signal_no, signal_id, suspension_id, $6, $6, generation, ${receivedCount('sent')} + 1,
    'resume_condition_satisfied', 'timeout', 'timeout', 'system', 'suspension_timeout'
  from sent
)
insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
  actor, reason, attempt_index, details)
select $6, execution_id, flow_id, generation, 'signalled', partition_key, namespace, $5, 'timeout', attempt_index,
  jsonb_build_object('signalId', signal_id, 'signalName', 'timeout', 'effect', 'resume_condition_satisfied',
    'category', 'timeout', 'sourceType', 'system', 'sourceIdentity', 'suspension_timeout')
from sent`,
})

export interface TimedOut {
  /** The execution's. */
  readonly uuid: string
  readonly suspensionId: string
  readonly signalId: string
  readonly signalNumber: number
}

/** For executions that are locked and suspended. */
export function timeoutSignalCall(items: readonly TimedOut[], actor: string, at: number) {
  return call(sendTimeout, {
    execution_ids: items.map(({ uuid }) => uuid),
    suspension_ids: items.map(({ suspensionId }) => suspensionId),
    signal_ids: items.map(({ signalId }) => signalId),
    signal_nos: items.map(({ signalNumber }) => signalNumber),
    actor,
    at_ms: at,
  })
}
