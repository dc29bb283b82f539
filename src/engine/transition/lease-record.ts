// The end of a lease, from the record of its attempt and from the log. A holder that repeats a request which ended its lease
// receives the result of the first one.
import { EngineError } from '../../model/errors.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Outcome } from '../kernel/merge.ts'
import type { CheckedFence } from './fence.ts'

const leaseRecord = {
  ordinal: 'int8',
  /** Of its attempt; null when another holder of the same attempt has overwritten it. */
  outcome: 'text?',
  failure_category: 'text?',
  next_at_ms: 'int8?',
  /** The transition that ended the lease, and its time. */
  left_as: 'text?',
  left_at_ms: 'int8?',
  cancel_requested: 'bool',
} as const

export type LeaseRecord = RowOf<typeof leaseRecord>

// The attempt's record is found by the lease. The record of an attempt that was interrupted and continued has the lease of its last
// holder, and an ending overwrites how it was interrupted. The log keeps both.
const recordsOfLeases = statement({
  name: 'attempt.of-leases',
  params: { execution_ids: 'uuid[]', lease_ids: 'uuid[]', lease_epochs: 'int8[]' },
  row: leaseRecord,
  text: `
select i.ordinal, a.outcome, a.failure_category, a.next_at_ms, h.left_as, h.left_at_ms, h.cancel_requested
from unnest($1::uuid[], $2::uuid[], $3::int8[]) with ordinality as i (execution_id, lease_id, lease_epoch, ordinal)
left join flowfabric.ff_attempt a
  on a.execution_id = any (array[i.execution_id]) and a.lease_id = i.lease_id and a.lease_epoch = i.lease_epoch
cross join lateral (
  select max(v.event_type::text) filter (where v.lease_effect in ('expired', 'revoked')) as left_as,
    max(v.occurred_at_ms) filter (where v.lease_effect in ('expired', 'revoked')) as left_at_ms,
    coalesce(bool_or(v.event_type = 'cancel_requested'), false) as cancel_requested
  from flowfabric.ff_event v
  where v.execution_id = any (array[i.execution_id]) and v.lease_id = i.lease_id and v.lease_epoch = i.lease_epoch
) h`,
})

/** The result of the first request for an item whose record shows that it is a repeat; null when the record is of another request. */
interface Repeatable<Item, Answer> {
  repeat(item: Item, record: LeaseRecord): Answer | null
}

/** Replaces the errors of repeated requests by the result of the first. */
export async function withRepeats<Item extends CheckedFence, Answer>(
  sql: Sql,
  items: readonly Item[],
  outcomes: readonly Outcome<Answer>[],
  operation: Repeatable<Item, Answer>,
): Promise<readonly Outcome<Answer>[]> {
  const lost = items.filter((_, index) => hasLostItsLease(outcomes[index]))
  if (lost.length === 0) return outcomes
  const records = await sql.query(recordsOfLeases, {
    execution_ids: lost.map((item) => item.uuid),
    lease_ids: lost.map((item) => item.leaseId),
    lease_epochs: lost.map((item) => item.leaseEpoch),
  })
  const recordOf = new Map(records.map((record) => [lost[record.ordinal - 1], record]))
  return items.map((item, index) => {
    const record = recordOf.get(item)
    return (record === undefined ? null : operation.repeat(item, record)) ?? outcomes[index]!
  })
}

// Another process ended a lease that expired or was revoked, so its holder has nothing to repeat.
function hasLostItsLease(outcome: unknown): boolean {
  return EngineError.is(outcome, 'stale_lease') || EngineError.is(outcome, 'execution_not_active')
}

/** The execution had been asked to stop, so giving it back ended it. */
export function wasAskedToStop({ outcome, cancel_requested: isAsked }: LeaseRecord): boolean {
  return outcome === 'cancelled' && isAsked
}
