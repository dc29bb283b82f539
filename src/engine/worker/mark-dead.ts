// An operator reports that a worker is gone, or the worker itself stops: it is removed before its time is over. Its
// leases do not change.
import { text } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { namespace, workerName } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { untilSent } from '../kernel/resend.ts'
import { scopeFor } from '../signing-key/scope.ts'

export const markDeadFields = {
  workerInstanceId: workerName,
  /** As it was registered. */
  namespace: namespace.optional(),
  reason: text({ minBytes: 1, maxBytes: limits.deathReasonBytes, refuseControls: true }),
}

export interface MarkDeadRequest extends RequestOf<typeof markDeadFields> {}

export interface MarkDeadResult {
  readonly kind: 'marked' | 'not_registered'
  readonly workerInstanceId: string
}

// An expired worker is left to the duty, which writes its event.
const remove = statement({
  name: 'worker.mark-dead',
  params: { namespace: 'text', worker_instance_id: 'text', reason: 'text', actor: 'text' },
  row: { worker_instance_id: 'text' },
  text: `
with marked as (
  delete from flowfabric.ff_worker
  where namespace = $1 and worker_instance_id = $2 and expires_at_ms > flowfabric.ff_now_ms()
  returning namespace, worker_instance_id, worker_id
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id,
    reason, details)
  select flowfabric.ff_now_ms(), 'worker_marked_dead', 0, namespace, $4, worker_instance_id, $3,
    jsonb_build_object('workerId', worker_id)
  from marked
)
select worker_instance_id
from marked`,
})

export async function markDead(sql: Sql, caller: Caller, request: MarkDeadRequest): Promise<MarkDeadResult> {
  const { workerInstanceId, reason } = checkFields('workers.markDead', markDeadFields, request)
  const values = {
    namespace: scopeFor(caller, request.namespace),
    worker_instance_id: workerInstanceId,
    reason,
    actor: caller.actor,
  }
  // Not sent again when the reply is lost: the same instance may have registered again since.
  const rows = await untilSent(sql, { again: false, onlyOnce: true }, () => sql.query(remove, values))
  return { kind: rows.length === 0 ? 'not_registered' : 'marked', workerInstanceId }
}
