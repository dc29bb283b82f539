// Idempotency keys that have expired. A create that finds one deletes it itself; this duty deletes the others.
import { statement } from '../../sql/statement.ts'
import { clearingDuty, expiredRow } from './expired-rows.ts'
import { hasTag, scopeParams } from '../kernel/scope.ts'

// A key that a create takes meanwhile is locked or deleted: its new row is another one, which this statement does not see.
const forget = statement({
  name: 'duty.key-expiry',
  params: scopeParams,
  row: expiredRow,
  text: `
with expired as materialized (
  select k.namespace, k.scope_id, k.idempotency_key
  from flowfabric.ff_idempotency_key k
  where k.expires_at_ms > 0 and k.expires_at_ms <= flowfabric.ff_now_ms()
    and ($2::text is null or k.namespace = $2)
    and ${hasTag('k.execution_id')}
  order by k.expires_at_ms
  limit $1
  for update skip locked
),
deleted as (
  delete from flowfabric.ff_idempotency_key k
  using expired x
  where k.namespace = any (array[x.namespace]) and k.scope_id = any (array[x.scope_id])
    and k.idempotency_key = any (array[x.idempotency_key])
  returning k.execution_id
)
select count(*) as cleared_count
from deleted`,
})

export const keyExpiry = clearingDuty({
  name: 'key-expiry',
  watch: { column: 'ff_idempotency_key.expires_at_ms', isPrompt: false },
  intervalMs: 60_000,
  act: forget,
})
