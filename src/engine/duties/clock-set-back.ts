// The database's clock was set back: by hand, by a first NTP sync, or by a failover to a server whose clock is behind. Times
// that were written before are too far ahead. A poll ignores its own (`poll-duties.ts`). A lease must not last longer than
// its ttl: its holder may be gone. Other timers keep the time that their callers requested.
import type { Logger } from '../../sql/logger.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'

/** A smaller step is a normal correction by NTP. */
export const smallestStepMs = 1000

// Page by page, from the lease that ends last. A lease that was acquired or renewed in the future now ends one ttl from now.
// Locks leases alone, as a renewal does, and skips a lease that is being renewed.
const boundLeases = statement({
  name: 'duty.bound-leases',
  params: { before_ms: 'int8', before_id: 'uuid', limit: 'int8' },
  row: { execution_id: 'uuid', expires_at_ms: 'int8', is_bounded: 'bool' },
  text: `
with page as materialized (
  select l.execution_id, l.expires_at_ms, coalesce(l.renewed_at_ms, l.acquired_at_ms) as begins_at_ms
  from flowfabric.ff_lease l
  where l.expires_at_ms > 0 and l.expires_at_ms > flowfabric.ff_now_ms()
    and (l.expires_at_ms, l.execution_id) < ($1, $2)
  order by l.expires_at_ms desc, l.execution_id desc
  limit $3
  for no key update skip locked
),
bounded as (
  update flowfabric.ff_lease l
  set expires_at_ms = flowfabric.ff_now_ms() + p.expires_at_ms - p.begins_at_ms, renewed_at_ms = flowfabric.ff_now_ms()
  from page p
  where l.execution_id = any (array[p.execution_id]) and p.begins_at_ms > flowfabric.ff_now_ms()
  returning l.execution_id
)
select p.execution_id, p.expires_at_ms, b.execution_id is not null as is_bounded
from page p
left join bounded b on b.execution_id = p.execution_id
order by p.expires_at_ms desc, p.execution_id desc`,
})

const pageSize = 1000
const last = { expires_at_ms: Number.MAX_SAFE_INTEGER, execution_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

/** Returns the number of shortened leases. */
async function boundLeasesByTtl(sql: Sql): Promise<number> {
  let boundedCount = 0
  let [before_ms, before_id] = [last.expires_at_ms, last.execution_id]
  for (let isFull = true; isFull;) {
    const page = await sql.query(boundLeases, { before_ms, before_id, limit: pageSize })
    boundedCount += page.filter((row) => row.is_bounded).length
    isFull = page.length === pageSize
    if (isFull) [before_ms, before_id] = [page.at(-1)!.expires_at_ms, page.at(-1)!.execution_id]
  }
  return boundedCount
}

export async function afterSetBack(sql: Sql, logger: Logger, byMs: number): Promise<void> {
  const boundedCount = await boundLeasesByTtl(sql)
  logger.warn(
    `the database's clock was set back by ${Math.round(byMs / 1000)} s; timers that were set before are late by the same amount, ` +
      `and ${boundedCount} leases were shortened to their TTL`,
  )
}
