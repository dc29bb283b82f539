// Grants that no worker used. An expired grant blocks no claim, so only its row is left to delete. The execution keeps its
// bit, which means that a grant may exist: the claim that reads it finds none, and clears the bit.
import { statement } from '../../sql/statement.ts'
import { clearingDuty, expiredRow } from './expired-rows.ts'
import { hasTag, scopeParams } from '../kernel/scope.ts'

// A grant that is renewed meanwhile is locked by that transaction, or has another expiry once it is locked here.
const forget = statement({
  name: 'duty.grant-expiry',
  params: scopeParams,
  row: expiredRow,
  text: `
with expired as materialized (
  select g.execution_id
  from flowfabric.ff_grant g
  where g.expires_at_ms > 0 and g.expires_at_ms <= flowfabric.ff_now_ms()
    and ($2::text is null or $2 = (
      select e.namespace
      from flowfabric.ff_exec_core e
      where e.execution_id = any (array[g.execution_id])))
    and ${hasTag('g.execution_id')}
  order by g.expires_at_ms
  limit $1
  for update skip locked
),
deleted as (
  delete from flowfabric.ff_grant g
  using expired x
  where g.execution_id = any (array[x.execution_id])
  returning g.execution_id
)
select count(*) as cleared_count
from deleted`,
})

export const grantExpiry = clearingDuty({
  name: 'grant-expiry',
  watch: { column: 'ff_grant.expires_at_ms', isPrompt: false },
  intervalMs: 30_000,
  act: forget,
})
