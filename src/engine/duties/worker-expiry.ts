// Workers whose registration has expired without a heartbeat. No query returns them from that millisecond on; this duty deletes
// their rows, and writes an event for each.
import { statement } from '../../sql/statement.ts'
import { asEngineError } from '../kernel/failure.ts'
import { untilSent } from '../kernel/resend.ts'
import type { Duty } from '../kernel/duty.ts'
import { noEffects, onlyEvents } from '../kernel/effects.ts'
import { scopeOf } from '../kernel/scope.ts'

const name = 'worker-expiry'

// A running heartbeat has locked the row; an earlier one has moved its time, which the lock checks again.
const deleteSilent = statement({
  name: `duty.${name}`,
  params: { batch: 'int8' },
  row: { deleted_count: 'int8' },
  text: `
with silent as materialized (
  select w.namespace, w.worker_instance_id
  from flowfabric.ff_worker w
  where w.expires_at_ms <= flowfabric.ff_now_ms()
  order by w.expires_at_ms
  limit $1
  for update skip locked
),
deleted as (
  delete from flowfabric.ff_worker w
  using silent s
  where w.namespace = any (array[s.namespace]) and w.worker_instance_id = any (array[s.worker_instance_id])
  returning w.namespace, w.worker_instance_id, w.worker_id
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id,
    details)
  select flowfabric.ff_now_ms(), 'worker_ttl_swept', 0, namespace, '${name}', worker_instance_id,
    jsonb_build_object('workerId', worker_id)
  from deleted
)
select count(*) as deleted_count
from deleted`,
})

export const workerExpiry: Duty = {
  name,
  watch: { column: 'ff_worker.expires_at_ms', isPrompt: false },
  intervalMs: 30_000,
  isOfDatabase: true,
  async runOnce(sql, options = {}) {
    const { batch } = scopeOf(options)
    const rows = await untilSent(sql, { again: false }, () => sql.query(deleteSilent, { batch })).catch(
      (error: unknown) => {
        throw asEngineError(error)
      },
    )
    const processed = rows[0]!.deleted_count
    return { processed, errors: 0, isFull: processed >= batch, effects: processed > 0 ? onlyEvents : noEffects }
  },
}
