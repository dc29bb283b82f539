// Waitpoints that were created ahead and that no suspension used in time: they accept no more signals. Signals that they have
// received stay in the record of the execution.
import { statement } from '../../sql/statement.ts'
import { clearingDuty, expiredRow } from './expired-rows.ts'
import { hasTag, scopeParams } from '../kernel/scope.ts'

// The execution is locked too, and passed over when another transaction has locked it: a suspend that found the waitpoint in
// time may be about to use it.
const close = statement({
  name: 'duty.waitpoint-expiry',
  params: scopeParams,
  row: expiredRow,
  text: `
with expired as materialized (
  select p.waitpoint_id
  from flowfabric.ff_waitpoint_pending p
  join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
  where p.expires_at_ms <= flowfabric.ff_now_ms() and p.state = 'pending'
    and ($2::text is null or e.namespace = $2)
    and ${hasTag('p.execution_id')}
  order by p.expires_at_ms, p.waitpoint_id
  limit $1
  for no key update of e, p skip locked
),
closed as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = flowfabric.ff_now_ms(), close_reason = 'never_committed', expires_at_ms = null
  from expired x
  where p.waitpoint_id = any (array[x.waitpoint_id])
  returning p.waitpoint_id
)
select count(*) as cleared_count
from closed`,
})

export const waitpointExpiry = clearingDuty({
  name: 'waitpoint-expiry',
  watch: { column: 'ff_waitpoint_pending.expires_at_ms', isPrompt: false },
  intervalMs: 5000,
  act: close,
})
