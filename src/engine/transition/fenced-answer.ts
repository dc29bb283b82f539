// The rows that a fenced statement returns: for each item that it wrote, or the state that it found instead, from which the error is
// made.
import { EngineError, type DetailsOf } from '../../model/errors.ts'
import { isEnded, outcomeOfPublicState, type Interruption, type PublicState } from '../../model/state.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { pendingDispatchSql } from '../kernel/pending-dispatch.ts'
import { hasMoreToClose } from './ending.ts'
import { isHeldSql, type CheckedFence } from './fence.ts'

const answerColumns = `v.ordinal, v.is_held, v.is_last_holder, v.lease_epoch, v.public_state, v.found_attempt, v.interruption,
  ${pendingDispatchSql('v.attached')} as pending_dispatch`

/** The columns from which the error of a lost lease is made. */
export const fenceRow = {
  ordinal: 'int8',
  is_held: 'bool',
  is_last_holder: 'bool',
  lease_epoch: 'int8',
  /** As it was found. */
  public_state: oneOf<PublicState>(),
  found_attempt: 'int4',
  interruption: oneOf<Interruption>(),
} as const

/** Every fenced statement returns a row for each item whose execution exists and that no other transaction has locked. */
export const fencedRow = {
  ...fenceRow,
  /** The dispatch that its ending needs, as bits of `pendingDispatch`, if the write has ended it. */
  pending_dispatch: 'int4',
} as const

export type FencedRow = RowOf<typeof fencedRow>

/**
 * The end of a fenced statement, from `checked` or a CTE with all its rows and the operation's `own` columns. It joins nothing: two
 * sets without an index would be compared each with each. `findPassedOver` finds the items that the statement passed over; within
 * every statement that would be a tenth of a completion of one (measured).
 */
export function fencedAnswer(from: string, ...own: readonly string[]): string {
  return `select ${[answerColumns, ...own.map((name) => `v.${name}`)].join(', ')}
from ${from} v`
}

/** The ordinal of the one row that answers for the whole set. */
export const wholeSet = 0

const written = `, written as materialized (
  select count(*) = cardinality($1::uuid[]) as is_whole, bit_or(${pendingDispatchSql('attached')}) as pending_dispatch`

function answerForAll(...columns: readonly string[]): string {
  const own = columns.map((column) => `, null::bool as ${column}`).join('')
  const each = columns.map((column) => `, v.${column}`).join('')
  return `
select ${wholeSet}::int8 as ordinal, true as is_held, true as is_last_holder, null::int8 as lease_epoch,
  null::flowfabric.ff_public_state as public_state, null::int4 as found_attempt,
  null::flowfabric.ff_interruption as interruption, pending_dispatch${own}
from written
where is_whole
union all
select ${answerColumns}${each}`
}

/**
 * The end of a fenced statement that reports only whether it wrote. When it wrote for every item, which is the rule, one row
 * reports it for all of them (measured: a fifth of this process's work on a set of 500).
 */
export const writtenAnswer = `${written}
  from checked
  where is_held
)${answerForAll()}
from checked v
where not (select is_whole from written)`

/** The columns of `releasedAnswer`. */
export const releasedRow = {
  ...fencedRow,
  /** Held too, and nothing was written: it has more to close than this form of the statement closes. */
  has_more: 'bool?',
} as const

/** The same after `fencedToRelease`, which passes over executions that have more to close. */
export const releasedAnswer = releasedAnswerWith(`t.attached & ${hasMoreToClose} <> 0 and exists (
      select
      from flowfabric.ff_lease l
      cross join clock k
      where l.execution_id = any (array[t.execution_id]) and ${isHeldSql('t', 't')})`)

/** The same after `fencedToReleaseWhole`. */
export const releasedWholeAnswer = releasedAnswerWith('false')

function releasedAnswerWith(hasMore: string): string {
  return `${written}
  from released
)${answerForAll('has_more')}
from (
  select t.*, t.execution_id in (select execution_id from released) as is_held,
    coalesce(t.lease_id = t.given_lease_id and t.lease_epoch = t.given_epoch, false) as is_last_holder,
    ${hasMore} as has_more
  from target t
  where t.execution_row = t.seen_row
) v
where not (select is_whole from written)`
}

/** Of the items for which a fenced statement returned no row: those that exist, so that another transaction had locked them. */
export const findPassedOver = statement({
  name: 'fence.passed-over',
  params: { execution_ids: 'uuid[]', partition_keys: 'int2[]', namespaces: 'text?[]' },
  row: { ordinal: 'int8' },
  text: `
select i.ordinal
from unnest($1::uuid[], $2::int2[], $3::text[]) with ordinality as i (execution_id, partition_key, namespace, ordinal)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)`,
})

export function notFound({ executionId }: CheckedFence): EngineError {
  return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
}

/** The error of a write that the fence refused. A repeat was excluded before. */
export function lostLease(
  { executionId, leaseId, leaseEpoch }: CheckedFence,
  row: Omit<RowOf<typeof fenceRow>, 'ordinal' | 'is_held'>,
): EngineError {
  const details = { executionId, publicState: row.public_state, leaseEpoch, currentLeaseEpoch: row.lease_epoch }
  if (isEnded(row.public_state)) {
    const sentence = `execution ${executionId} is ${row.public_state}; stop working on it`
    const ending: DetailsOf<'execution_not_active'> = {
      ...details,
      lifecyclePhase: 'terminal',
      terminalOutcome: outcomeOfPublicState(row.public_state),
      attemptIndex: row.found_attempt,
    }
    return new EngineError('execution_not_active', sentence, ending)
  }
  if (row.is_last_holder) {
    if (row.interruption === 'revoked') {
      return new EngineError('lease_revoked', `the lease on ${executionId} was revoked; stop working on it`, details)
    }
    if (row.interruption === 'lapsed' || row.public_state === 'active') {
      return new EngineError('lease_expired', `the lease on ${executionId} has expired; stop working on it`, details)
    }
    const sentence = `the lease on ${executionId} has ended, and the execution is ${row.public_state}; stop working on it`
    return new EngineError('stale_lease', sentence, details)
  }
  const sentence = `lease ${leaseId} (epoch ${leaseEpoch}) is not the lease of ${executionId} (epoch ${row.lease_epoch}); stop working on it`
  return new EngineError('stale_lease', sentence, details)
}
