// Cancel ends an execution in its own transaction, whoever holds it: the holder's next write meets the ending.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, parseExecutionId, type ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { PublicState } from '../../model/state.ts'
import { checkText } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import { held, type Outcome, type SetOperation } from '../merge.ts'
import { endExecutions } from './ending.ts'

export interface CancelRequest {
  readonly executionId: ExecutionId
  readonly reason?: string
}

export type CancelResult =
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId; readonly from: PublicState }
  /** It was cancelled before; that reason stands. */
  | { readonly kind: 'already_cancelled'; readonly executionId: ExecutionId }

/** A checked request, as the statement takes it. */
export interface Cancellation {
  readonly executionId: ExecutionId
  readonly partition: number
  readonly uuid: string
  readonly namespace: string | null
  readonly reason: string | null
  readonly actor: string
}

export function checkCancelRequest(caller: Caller, request: CancelRequest): Cancellation {
  refuseUnknownFields('cancel', request, ['executionId', 'reason'])
  const { executionId, reason } = request
  const { partition, uuid } = parseExecutionId(executionId)
  return {
    // As it is stored: a uuid may be written in capitals.
    executionId: formatExecutionId(partition, uuid),
    partition,
    uuid,
    namespace: caller.namespace,
    reason: reason === undefined ? null : checkText('reason', reason, { maxBytes: limits.reasonBytes }),
    actor: caller.actor,
  }
}

const params = {
  execution_ids: 'uuid[]',
  partition_keys: 'int2[]',
  namespaces: 'text?[]',
  reasons: 'text?[]',
  actors: 'text[]',
} as const

const row = {
  ordinal: 'int8',
  /** As it was found; null when another transaction holds it. */
  public_state: oneOf<PublicState | null>(),
} as const

// Locks the executions in the order of their ids and passes over those that are held; an item that exists and was passed
// over answers with a null state, one that does not exist answers nothing. So does one that was changed between this
// statement's snapshot and its lock: the lock shows its newest version, but the lease or ready row that came with it is not
// in the snapshot, and would be left behind. `not in` is a hashed lookup, a join of the two sets would compare each with
// each.
const cancelSet = statement({
  name: 'execution.cancel',
  params,
  row,
  text: `
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::text[])
    with ordinality as i (execution_id, partition_key, namespace, reason, actor, ordinal)
),
target as materialized (
  select e.*, i.ordinal, i.reason, i.actor, e.xmin = seen.xmin as is_current
  from input i
  join flowfabric.ff_exec_core e
    on e.execution_id = i.execution_id
    and e.partition_key = i.partition_key
    and (i.namespace is null or e.namespace = i.namespace)
  join flowfabric.ff_exec_core seen on seen.execution_id = i.execution_id
  order by e.execution_id
  for no key update of e skip locked
),
ending as materialized (
  select t.*, 'cancelled'::flowfabric.ff_terminal_outcome as ending_outcome, t.reason as ending_reason,
    t.actor as ending_actor, flowfabric.ff_now_ms() as ended_at_ms, null::bytea as ending_result,
    null::text as ending_encoding
  from target t
  where t.lifecycle_phase <> 'terminal' and t.is_current
),
${endExecutions}
select t.ordinal, case when t.is_current or t.lifecycle_phase = 'terminal' then t.public_state end as public_state
from target t
union all
select i.ordinal, null
from input i
join flowfabric.ff_exec_core e
  on e.execution_id = i.execution_id
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
where i.ordinal not in (select ordinal from target)`,
})

// The same execution alone: waits for its holder, within the transaction's lock timeout.
const lockAlone = statement({
  name: 'execution.cancel.lock',
  params: { execution_id: 'uuid' },
  row: {},
  text: `
select from flowfabric.ff_exec_core
where execution_id = $1
for no key update`,
})

export function cancelOperation(sql: Sql): SetOperation<Cancellation, CancelResult> {
  return {
    keyOf: (item) => item.uuid,
    async send(items) {
      return decode(items, await sql.query(cancelSet, columnsOf(items)))
    },
    async sendAlone(item, _again, lockTimeoutMs) {
      const [, rows] = await sql.pipeline(
        [call(lockAlone, { execution_id: item.uuid }), call(cancelSet, columnsOf([item]))],
        { lockTimeoutMs },
      )
      return decode([item], rows)[0]!
    },
  }
}

function columnsOf(items: readonly Cancellation[]) {
  return {
    execution_ids: items.map((item) => item.uuid),
    partition_keys: items.map((item) => item.partition),
    namespaces: items.map((item) => item.namespace),
    reasons: items.map((item) => item.reason),
    actors: items.map((item) => item.actor),
  }
}

interface FoundRow {
  readonly ordinal: number
  readonly public_state: PublicState | null
}

function decode(items: readonly Cancellation[], rows: readonly FoundRow[]): Outcome<CancelResult>[] {
  const found = new Map(rows.map((found) => [found.ordinal, found.public_state]))
  return items.map((item, index) => answer(item.executionId, found.get(index + 1)))
}

function answer(executionId: ExecutionId, state: PublicState | null | undefined): Outcome<CancelResult> {
  switch (state) {
    case undefined:
      return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
    case null:
      return held
    case 'cancelled':
      return { kind: 'already_cancelled', executionId }
    case 'completed':
    case 'failed':
    case 'expired':
    case 'skipped':
      return new EngineError(
        'execution_not_cancellable',
        `execution ${executionId} is ${state}; cancel needs a waiting, active or suspended one`,
        { executionId, publicState: state },
      )
    default:
      return { kind: 'cancelled', executionId, from: state }
  }
}
