// Signing keys that were rotated out and whose grace period is over. They verify no more tokens, so their secrets are deleted;
// the row stays, because the id of a key is never used for another.
import { statement } from '../../sql/statement.ts'
import { asEngineError } from '../kernel/failure.ts'
import type { Duty } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import { scopeOf } from '../kernel/scope.ts'

const wipe = statement({
  name: 'duty.signing-key-expiry',
  params: { batch: 'int8' },
  row: { wiped_count: 'int8' },
  text: `
with expired as materialized (
  select k.namespace, k.kid
  from flowfabric.ff_waitpoint_hmac k
  where k.expires_at_ms < flowfabric.ff_now_ms() and k.secret is not null
  order by k.expires_at_ms
  limit $1
  for no key update skip locked
),
wiped as (
  update flowfabric.ff_waitpoint_hmac k
  set secret = null, is_wrapped = false
  from expired x
  where k.namespace = any (array[x.namespace]) and k.kid = any (array[x.kid])
  returning k.kid
)
select count(*) as wiped_count
from wiped`,
})

export const signingKeyExpiry: Duty = {
  name: 'signing-key-expiry',
  watch: { column: 'ff_waitpoint_hmac.expires_at_ms', where: 'secret is not null', isPrompt: false },
  intervalMs: 60_000,
  isOfDatabase: true,
  async runOnce(sql, options = {}) {
    const { batch } = scopeOf(options)
    const rows = await sql.query(wipe, { batch }).catch((error: unknown) => {
      throw asEngineError(error)
    })
    const processed = rows[0]!.wiped_count
    return { processed, errors: 0, isFull: processed >= batch, effects: noEffects }
  },
}
