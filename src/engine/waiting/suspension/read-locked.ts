// Before a suspension is decided: locks the executions, then reads. Signals are written under the same lock, so later
// statements read everything that counts.
import { attached } from '../../../model/attached.ts'
import { childrenOf, namesTakenBy } from '../../../model/condition-waits.ts'
import { parseExecutionId } from '../../../model/id.ts'
import type { SourceType } from '../../../model/signal.ts'
import type { PendingOutcome } from '../../../model/state.ts'
import type { WaitpointState } from '../../../model/suspension.ts'
import { call, type Call, type RowsOf } from '../../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../../sql/statement.ts'
import { lockSetCall } from '../../transition/lock-set.ts'
import { fenceInput, fenceParams, fenceValues, isHeldSql } from '../../transition/fence.ts'
import { fenceRow } from '../../transition/fenced-answer.ts'
import { waitingAt, waitingByName } from '../../transition/untaken-signals.ts'
import { keyByKid, signingKeyOf, storedKeyRow } from '../../signing-key/stored-key.ts'
import { byExecution } from './open-suspensions.ts'
import type { NewSuspension } from './request.ts'

const readStatement = statement({
  name: 'suspension.read-locked',
  params: fenceParams,
  row: {
    ...fenceRow,
    namespace: 'text',
    queue_id: 'int4',
    attached: 'int4',
    is_asked_to_stop: 'bool',
    cancel_deadline_at_ms: 'int8?',
    cancellation_reason: 'text?',
    cancelled_by: 'text?',
    stop_outcome: oneOf<PendingOutcome | null>(),
    now_ms: 'int8',
    /** The key that signs fresh waitpoints. */
    ...storedKeyRow,
    /** The suspension before this one; whether it belongs to this very holder; and whether it kept its lease. */
    last_suspension_id: 'uuid?',
    last_key: 'text?',
    last_is_ours: 'bool',
    last_was_at_once: 'bool',
  },
  text: `
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[])
    with ordinality as i (${fenceInput}, ordinal)
)
select i.ordinal,
  coalesce(${isHeldSql('e', 'i')}, false) as is_held,
  coalesce(e.lease_id = i.given_lease_id and e.lease_epoch = i.given_epoch, false) as is_last_holder,
  e.lease_epoch, e.public_state, e.attempt_index as found_attempt, e.interruption, e.namespace, e.queue_id,
  e.attached, e.cancel_requested_at_ms is not null as is_asked_to_stop, e.cancel_deadline_at_ms, e.cancellation_reason,
  e.cancelled_by, e.stop_outcome, k.now_ms, signing.*,
  s.suspension_id as last_suspension_id, s.idempotency_key as last_key,
  coalesce(s.lease_id = i.given_lease_id and s.lease_epoch = i.given_epoch, false) as last_is_ours,
  coalesce(s.outcome ? 'atOnce', false) as last_was_at_once
from input i
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
left join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
left join flowfabric.ff_suspension_current s on s.execution_id = any (array[e.execution_id])${signingKeyOf('e.namespace')}`,
})

// The named waitpoints, and those that earlier suspensions have kept.
const pendingStatement = statement({
  name: 'suspension.read-locked.waitpoints',
  params: { waitpoint_ids: 'uuid[]', keeper_ids: 'uuid[]' },
  row: {
    waitpoint_id: 'uuid',
    execution_id: 'uuid',
    waitpoint_key: 'text',
    state: oneOf<WaitpointState>(),
    is_made_ahead: 'bool',
    close_reason: 'text?',
    created_at_ms: 'int8',
    expires_at_ms: 'int8?',
    token_kid: 'text',
    /** The key that signed it. */
    ...storedKeyRow,
  },
  text: `
with asked as materialized (
  select unnest($1::uuid[]) as waitpoint_id
  union
  select p.waitpoint_id
  from unnest($2::uuid[]) as i (execution_id)
  cross join lateral (
    select p.waitpoint_id
    from flowfabric.ff_waitpoint_pending p
    where p.execution_id = i.execution_id and p.suspension_id is null and p.state = 'pending' and not p.is_made_ahead
    offset 0
  ) p
)
select p.waitpoint_id, p.execution_id, p.waitpoint_key, p.state, p.is_made_ahead, p.close_reason, p.created_at_ms,
  p.expires_at_ms, p.token_kid, k.*
from asked i
join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = any (array[i.waitpoint_id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])${keyByKid('e.namespace', 'p.token_kid')}`,
})

// Signals at pending waitpoints, and untaken signals by name. A signal that did not count on arrival never will. The
// payload is read only if a predicate needs it.
const earlySignals = statement({
  name: 'suspension.read-locked.signals',
  params: { execution_ids: 'uuid[]', with_payloads: 'bool[]', names: 'text[]' },
  row: {
    execution_id: 'uuid',
    signal_no: 'int8',
    signal_id: 'uuid',
    signal_name: 'text',
    source_type: oneOf<SourceType>(),
    source_identity: 'text',
    waitpoint_id: 'uuid?',
    waitpoint_key: 'text?',
    accepted_at_ms: 'int8',
    payload: 'bytea?',
    payload_encoding: 'text?',
  },
  text: `
select g.execution_id, g.signal_no, g.signal_id, g.signal_name, g.source_type, g.source_identity, g.waitpoint_id,
  g.waitpoint_key, g.accepted_at_ms, case when i.with_payload then g.payload end as payload, g.payload_encoding
from unnest($1::uuid[], $2::bool[]) as i (execution_id, with_payload)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
cross join lateral (
  select g.*
  from flowfabric.ff_waitpoint_pending p
  cross join lateral (${waitingAt('p')}
  ) g
  where e.attached & ${attached.waitpoints} <> 0
    and p.execution_id = any (array[e.execution_id]) and p.suspension_id is null and p.state = 'pending'
    and g.effect in ('buffered_for_pending_waitpoint', 'appended_to_waitpoint')
  union all
  select g.*
  from (${waitingByName('e')}
  ) g
  where g.suspension_id is null and g.signal_name = any ($3::text[])
) g`,
})

// An unknown id, or that of another parent's child, yields nothing; nor does a detached child of an earlier generation,
// because its ending notifies no parent.
const childStatement = statement({
  name: 'suspension.read-locked.children',
  params: { parent_ids: 'uuid[]', child_ids: 'uuid[]', partition_keys: 'int2[]' },
  row: { execution_id: 'uuid', child_id: 'uuid', partition_key: 'int2', terminal_at_ms: 'int8?' },
  text: `
select i.parent_id as execution_id, i.child_id, e.partition_key, e.terminal_at_ms
from unnest($1::uuid[], $2::uuid[], $3::int2[]) as i (parent_id, child_id, partition_key)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.child_id])
where e.parent_id = i.parent_id and e.partition_key = i.partition_key
  and (e.attached & ${attached.parent} <> 0 or e.terminal_at_ms is not null)`,
})

/** In this order, in one round trip. Most conditions wait only for future events; then only the lease is read. */
export function readCalls(items: readonly NewSuspension[]): readonly Call[] {
  const reads = [lockSetCall(items.map((item) => item.uuid)), call(readStatement, fenceValues(items))]
  return items.some(mayBeSatisfied) ? [...reads, ...earlierEventCalls(items)] : reads
}

function earlierEventCalls(items: readonly NewSuspension[]) {
  return [
    call(pendingStatement, { waitpoint_ids: pendingOf(items), keeper_ids: keepersOf(items) }),
    call(earlySignals, earlyOf(items)),
    call(childStatement, childValues(items)),
  ] as const
}

/** Whether an earlier signal or ending may count. */
function mayBeSatisfied(item: NewSuspension): boolean {
  return usesEarlierSignals(item) || childrenOf(item.condition).length > 0
}

function usesEarlierSignals({ condition, bindings, keepsWaitpoints }: NewSuspension): boolean {
  return keepsWaitpoints || bindings.some(({ key }) => key === null) || namesTakenBy(condition).length > 0
}

/** The rows that the calls returned. */
export interface SuspensionRows {
  /** By the execution's uuid. */
  readonly locked: ReadonlySet<string>
  /** By the place of the request in its set, from 1. */
  readonly found: ReadonlyMap<number, LockedRow>
  readonly pending: ReadonlyMap<string, PendingRow>
  readonly signals: ReadonlyMap<string, readonly EarlySignalRow[]>
  readonly children: ReadonlyMap<string, readonly ChildRow[]>
}

type ReadRows = [
  readonly { readonly execution_id: string }[],
  readonly LockedRow[],
  (readonly PendingRow[])?,
  (readonly EarlySignalRow[])?,
  (readonly ChildRow[])?,
]

export function lockedRowsOf(rows: RowsOf<readonly Call[]>): SuspensionRows {
  const [locked, found, pending = [], signals = [], children = []] = rows as unknown as ReadRows
  return {
    locked: new Set(locked.map((row) => row.execution_id)),
    found: new Map(found.map((row) => [row.ordinal, row])),
    pending: new Map(pending.map((row) => [row.waitpoint_id, row])),
    signals: byExecution(signals),
    children: byExecution(children),
  }
}

export type LockedRow = RowOf<typeof readStatement.row>
export type PendingRow = RowOf<typeof pendingStatement.row>
export type EarlySignalRow = RowOf<typeof earlySignals.row>
export type ChildRow = RowOf<typeof childStatement.row>

function pendingOf(items: readonly NewSuspension[]): string[] {
  return items.flatMap(({ bindings }) => bindings.flatMap(({ uuid, key }) => (key === null ? [uuid] : [])))
}

function keepersOf(items: readonly NewSuspension[]): string[] {
  return items.filter(({ keepsWaitpoints }) => keepsWaitpoints).map(({ uuid }) => uuid)
}

function earlyOf(items: readonly NewSuspension[]) {
  const names = new Set(items.flatMap(({ condition }) => namesTakenBy(condition)))
  const concerned = items.filter(usesEarlierSignals)
  return {
    execution_ids: concerned.map((item) => item.uuid),
    names: [...names],
    with_payloads: concerned.map(({ condition }) => JSON.stringify(condition).includes('"payload":')),
  }
}

function childValues(items: readonly NewSuspension[]) {
  const children = items.flatMap(({ uuid, condition }) =>
    childrenOf(condition).map((child) => ({ parent: uuid, ...parseExecutionId(child) })),
  )
  return {
    parent_ids: children.map(({ parent }) => parent),
    child_ids: children.map(({ uuid }) => uuid),
    partition_keys: children.map(({ partition }) => partition),
  }
}
