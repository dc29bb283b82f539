// The fence decides which worker may write to a running execution. A worker's write names the lease that its claim returned. The
// statement locks the execution, and writes only when that lease is still the current one and has not expired.
//
// The execution's row is locked, so its lease id and epoch are the latest. The expiry comes from the lease's row in the statement's
// snapshot. Only a renewal changes it while the execution is held, to a later time. So an expiry in the future is true. One in the
// past is checked again, alone, after both rows are locked.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, parseExecutionId, type ExecutionId } from '../../model/id.ts'
import { show } from '../../model/text.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { hasMoreToClose } from './ending.ts'

/** The lease that a claim returns, and that every write of its holder names. */
export interface Fence {
  readonly executionId: string
  readonly leaseId: string
  readonly leaseEpoch: number
}

/** A checked fence, as the statements take it. */
export interface CheckedFence {
  readonly executionId: ExecutionId
  readonly partition: number
  readonly uuid: string
  readonly namespace: string | null
  readonly leaseId: string
  readonly leaseEpoch: number
  readonly actor: string
}

const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

export function checkFence(caller: Caller, { executionId, leaseId, leaseEpoch }: Fence): CheckedFence {
  const { partition, uuid } = parseExecutionId(executionId)
  if (leaseId === undefined || leaseEpoch === undefined) {
    const sentence = `a write to ${executionId} needs the leaseId and leaseEpoch that its claim returned`
    throw new EngineError('fence_required', sentence, { executionId })
  }
  if (typeof leaseId !== 'string' || !uuidForm.test(leaseId)) {
    const sentence = `leaseId is ${show(leaseId)}; it must be the leaseId that the claim returned`
    throw new EngineError('invalid_input', sentence, { field: 'leaseId' })
  }
  if (!Number.isSafeInteger(leaseEpoch) || leaseEpoch < 1) {
    const sentence = `leaseEpoch is ${show(leaseEpoch)}; it must be the leaseEpoch that the claim returned`
    throw new EngineError('invalid_input', sentence, { field: 'leaseEpoch' })
  }
  return {
    executionId: formatExecutionId(partition, uuid),
    partition,
    uuid,
    namespace: caller.namespace,
    leaseId,
    leaseEpoch,
    actor: caller.actor,
  }
}

/** `$1` to `$6` of every fenced statement. */
export const fenceParams = {
  execution_ids: 'uuid[]',
  partition_keys: 'int2[]',
  namespaces: 'text?[]',
  lease_ids: 'uuid[]',
  lease_epochs: 'int8[]',
  actors: 'text[]',
} as const

export function fenceValues(items: readonly CheckedFence[]) {
  return {
    execution_ids: items.map((item) => item.uuid),
    partition_keys: items.map((item) => item.partition),
    namespaces: items.map((item) => item.namespace),
    lease_ids: items.map((item) => item.leaseId),
    lease_epochs: items.map((item) => item.leaseEpoch),
    actors: items.map((item) => item.actor),
  }
}

/** The columns of a CTE `input` that `fenceParams` fill, before the operation's own and `ordinal`. */
export const fenceInput = 'execution_id, partition_key, namespace, given_lease_id, given_epoch, actor'

/**
 * Follows the CTE `input`. Yields `checked`: the executions that it locked, in the order of ids, without those that another
 * transaction has locked. Its columns are the operation's own columns of the input, `now_ms`, read after the lock, and `is_held`,
 * the decision of the fence.
 */
export function fenced(...own: readonly string[]): string {
  return `
target as materialized (
  select ${foundColumns}, ${given(own)}
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = any (array[i.execution_id])
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  order by i.execution_id
  for no key update of e skip locked
),
${clock},
checked as materialized (
  select t.*, k.now_ms,
    coalesce(t.lease_id = t.given_lease_id and t.lease_epoch = t.given_epoch, false) as is_last_holder,
    coalesce(${isHeldSql('t', 't')}, false) as is_held
  from target t
  cross join clock k
  left join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
)`
}

/**
 * For a completion: deletes the lease while it checks the fence. Yields `released`: one row for each held execution, with the
 * operation's own columns, the columns of the lease, `now_ms`, and `execution_row`, the position of the locked row. So the statement
 * reads each row once (measured: a seventh of a completion in sets). `releasedAnswer` reports the others.
 *
 * A row that changed since the statement began is at a position that the snapshot does not contain, and is passed over; `seen_row`
 * is its position in the snapshot. An execution that has more to close than itself is passed over too, and reported.
 */
export function fencedToRelease(...own: readonly string[]): string {
  return releasing(` and t.attached & ${hasMoreToClose} = 0`, own)
}

/** The same for executions that may have more to close. A waitpoint or a signal that came after the snapshot changed the row. */
export function fencedToReleaseWhole(...own: readonly string[]): string {
  return releasing('', own)
}

function releasing(condition: string, own: readonly string[]): string {
  const kept = ['actor', ...own].map((column) => `t.${column}`).join(', ')
  return `
target as materialized (
  select ${foundColumns}, seen.ctid as seen_row, e.ctid as execution_row, ${given(own)}
  from input i
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_core e
    on e.ctid = seen.ctid
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  order by i.execution_id
  for no key update of e skip locked
),
${clock},
released as (
  delete from flowfabric.ff_lease l
  using target t
  cross join clock k
  where t.execution_row = t.seen_row${condition}
    and l.execution_id = any (array[t.execution_id]) and ${isHeldSql('t', 't')}
  returning t.execution_id, t.execution_row, t.attached, ${kept}, k.now_ms, l.is_continued, l.lease_id, l.lease_epoch,
    l.expires_at_ms, l.attempt_type, l.attempt_started_at_ms, l.worker_id, l.worker_instance_id
)`
}

const clock = clockAfter('target')

/** Of the execution `e`. */
const foundColumns = `e.execution_id, e.lease_id, e.lease_epoch, e.lifecycle_phase, e.interruption, e.public_state,
    e.attempt_index as found_attempt, e.attached`

/** Of `input i`: the lease that the fence compares, and the operation's own columns. */
function given(own: readonly string[]): string {
  return ['ordinal', 'given_lease_id', 'given_epoch', 'actor', ...own].map((column) => `i.${column}`).join(', ')
}

/** The rule of the fence, for the row of an execution, the row with the given lease, the lease's row `l` and the clock `k`. */
export function isHeldSql(execution: string, given: string): string {
  return `${execution}.lifecycle_phase = 'active' and ${execution}.lease_id = ${given}.given_lease_id
      and ${execution}.lease_epoch = ${given}.given_epoch and l.expires_at_ms > k.now_ms`
}

/** Before a fenced write that is sent alone: waits for the transaction that has locked the execution, and for a running renewal. */
export const lockHeld = statement({
  name: 'fence.lock',
  params: { execution_id: 'uuid' },
  row: {},
  text: `
with execution as materialized (
  select execution_id
  from flowfabric.ff_exec_core
  where execution_id = $1
  for no key update
)
select
from execution e
join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
for no key update of l`,
})
