// Deletes expired keys, in a statement before the insert: the insert's snapshot must not contain the old row. Of two
// concurrent creates, the second waits here and then finds the new row of the first.
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { CheckedExecution } from '../transition/new-execution.ts'

const forget = statement({
  name: 'execution.create.forget-expired-keys',
  params: { namespaces: 'text[]', scope_ids: 'uuid[]', keys: 'text[]' },
  row: {},
  text: `
delete from flowfabric.ff_idempotency_key k
using unnest($1::text[], $2::uuid[], $3::text[]) as i (namespace, scope_id, idempotency_key)
where k.namespace = any (array[i.namespace])
  and k.scope_id = any (array[i.scope_id])
  and k.idempotency_key = any (array[i.idempotency_key])
  and k.expires_at_ms <= flowfabric.ff_now_ms()`,
})

/** The scope of a key that is unique within its namespace, and not within a parent. */
const namespaceScope = '00000000-0000-0000-0000-000000000000'

/** `scopeId`: the flow within which they are unique. */
export function forgetExpiredKeys(items: readonly CheckedExecution[], scopeId?: string) {
  const keyed = items.filter((item) => item.idempotencyKey !== null)
  return call(forget, {
    namespaces: keyed.map((item) => item.queue.namespace),
    scope_ids: keyed.map((item) => scopeId ?? item.parent?.uuid ?? namespaceScope),
    keys: keyed.map((item) => item.idempotencyKey!),
  })
}
