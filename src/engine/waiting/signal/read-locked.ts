// Reads under the executions' locks: their state, the waitpoint, and whether the signal was recorded before.
import type { SignalEffect } from '../../../model/signal.ts'
import type { LifecyclePhase, PublicState } from '../../../model/state.ts'
import type { TimeoutBehaviour, WaitpointState } from '../../../model/suspension.ts'
import { call } from '../../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../../sql/statement.ts'
import { keyByKid, storedKeyRow } from '../../signing-key/stored-key.ts'
import { openSuspensionOf, suspensionOf, type OpenSuspension, type SignalRow } from '../suspension/open-suspensions.ts'
import { countAtWaitpoint, mostSignalsOf, receivedCount, signalOfSameKey } from '../earlier-signals.ts'
import { claimedKid, type Incoming } from './incoming.ts'

export const targetParams = {
  waitpoint_ids: 'uuid?[]',
  execution_ids: 'uuid?[]',
  partition_keys: 'int2[]',
  namespaces: 'text?[]',
} as const

export function targetValues(items: readonly Incoming[]) {
  return {
    waitpoint_ids: items.map((item) => waitpointUuidOf(item)),
    execution_ids: items.map(({ target }) => (target.noun === 'execution' ? target.uuid : null)),
    partition_keys: items.map(({ target }) => target.partition),
    namespaces: items.map(({ namespace }) => namespace),
  }
}

export function waitpointUuidOf({ target }: Incoming): string | null {
  return target.noun === 'waitpoint' ? target.uuid : null
}

/** Follows the input `i`; a signal by name has no waitpoint. */
const target = `
left join flowfabric.ff_waitpoint_pending p
  on p.waitpoint_id = any (array[i.waitpoint_id]) and p.partition_key = i.partition_key
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[coalesce(i.execution_id, p.execution_id)])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)`

const lockText = `
select e.execution_id
from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[]) as i (waitpoint_id, execution_id, partition_key, namespace)${target}
order by coalesce(i.execution_id, p.execution_id)
for no key update of e`

// Skips locked rows; those are sent again alone.
const lockFree = statement({
  name: 'signal.lock',
  params: targetParams,
  row: { execution_id: 'uuid' },
  text: `${lockText} skip locked`,
})

const lockAlone = statement({
  name: 'signal.lock-alone',
  params: targetParams,
  row: { execution_id: 'uuid' },
  text: lockText,
})

/** `isAlone`: waits for a transaction that has locked the execution. */
export function lockCall(items: readonly Incoming[], isAlone: boolean) {
  return call(isAlone ? lockAlone : lockFree, targetValues(items))
}

const row = {
  ordinal: 'int8',
  now_ms: 'int8',
  /** Its number when it is recorded; in the order of the set. */
  signal_no: 'int8',
  execution_id: 'uuid',
  namespace: 'text',
  queue_id: 'int4',
  lane_id: 'text',
  flow_id: 'uuid?',
  generation: 'int4',
  lifecycle_phase: oneOf<LifecyclePhase>(),
  public_state: oneOf<PublicState>(),
  /** All null for a signal by name. */
  waitpoint_key: 'text?',
  waitpoint_created_at_ms: 'int8?',
  waitpoint_state: oneOf<WaitpointState | null>(),
  waitpoint_suspension_id: 'uuid?',
  waitpoint_expires_at_ms: 'int8?',
  /** Of the signal with the same key, or of this very one when its reply was lost. */
  first_signal_id: 'uuid?',
  first_effect: oneOf<SignalEffect | null>(),
  /** The key that the token or link names. */
  ...storedKeyRow,
  /** Of the first of the set to its waitpoint. */
  waitpoint_count: 'int8?',
  /** The first of the set to its execution: the following columns belong to the execution, and are returned once. */
  is_first: 'bool',
  most_signals: 'int4?',
  received_count: 'int4?',
  suspension_id: 'uuid?',
  condition: 'jsonb?',
  keeps_waitpoints: 'bool?',
  resume_delay_ms: 'int8?',
  wake_at_ms: 'int8?',
  timeout_at_ms: 'int8?',
  escalated_at_ms: 'int8?',
  timeout_behaviour: oneOf<TimeoutBehaviour | null>(),
  child_endings: 'jsonb?',
} as const

export type FoundTarget = RowOf<typeof row>

// One statement for everything: each costs more to begin than to read a few rows (measured).
const readStatement = statement({
  name: 'signal.read-locked',
  params: { ...targetParams, kids: 'text?[]', idempotency_keys: 'text?[]', signal_ids: 'uuid?[]' },
  row,
  text: `
with found as materialized (
  select i.ordinal, i.waitpoint_id, i.kid, i.idempotency_key, i.signal_id, e.execution_id, e.partition_key, e.namespace,
    e.queue_id, e.flow_id, e.generation, e.attached, e.lifecycle_phase, e.public_state, p.waitpoint_key,
    p.created_at_ms as waitpoint_created_at_ms, p.state as waitpoint_state, p.suspension_id as waitpoint_suspension_id,
    p.expires_at_ms as waitpoint_expires_at_ms,
    row_number() over (partition by coalesce(i.execution_id, p.execution_id) order by i.ordinal) = 1 as is_first,
    row_number() over (partition by i.waitpoint_id order by i.ordinal) = 1 as is_first_there
  from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[], $5::text[], $6::text[], $7::uuid[])
    with ordinality as i (waitpoint_id, execution_id, partition_key, namespace, kid, idempotency_key, signal_id, ordinal)${target}
)
select f.ordinal, t.now_ms, nextval('flowfabric.ff_signal_no') as signal_no, f.execution_id, f.namespace, f.queue_id,
  q.lane_id, f.flow_id, f.generation, f.lifecycle_phase, f.public_state, f.waitpoint_key, f.waitpoint_created_at_ms, f.waitpoint_state,
  f.waitpoint_suspension_id, f.waitpoint_expires_at_ms,
  coalesce(again.signal_id, same.signal_id) as first_signal_id, coalesce(again.effect, same.effect) as first_effect,
  k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret,
  case when f.is_first_there and f.waitpoint_id is not null then ${countAtWaitpoint('f')} end as waitpoint_count,
  f.is_first, case when f.is_first then ${mostSignalsOf('f')} end as most_signals,
  case when f.is_first then ${receivedCount('f')} end as received_count, o.*
from found f
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) t
join flowfabric.ff_queue q on q.queue_id = any (array[f.queue_id])${keyByKid('f.namespace', 'f.kid')}
left join lateral (${signalOfSameKey('f')}
) same on true
left join lateral (
  select g.signal_id, g.effect
  from flowfabric.ff_signal g
  where f.signal_id is not null and g.execution_id = any (array[f.execution_id]) and g.signal_id = f.signal_id
  limit 1
) again on true
left join lateral (${openSuspensionOf(`case when f.is_first and f.lifecycle_phase = 'suspended' then f.execution_id end`)}
) o on true
order by f.ordinal`,
})

/** After the lock. `again`: an earlier reply was lost, so each also searches for itself. */
export function readCall(items: readonly Incoming[], again: boolean) {
  return call(readStatement, {
    ...targetValues(items),
    kids: items.map(({ credential }) => claimedKid(credential)),
    idempotency_keys: items.map(({ idempotencyKey }) => idempotencyKey),
    signal_ids: items.map(({ signalId }) => (again ? signalId : null)),
  })
}

/** The state of an execution before the signals of a set, from the row of the first of them. */
export interface Before {
  readonly suspension: OpenSuspension | undefined
  readonly mostSignals: number
  /** In its generation. */
  readonly receivedCount: number
  /** By the waitpoint's uuid: how many are stored at it. */
  readonly waitpointCounts: ReadonlyMap<string, number>
}

export function beforeOf(
  first: FoundTarget,
  signals: readonly SignalRow[],
  waitpointCounts: Before['waitpointCounts'],
): Before {
  const { suspension_id, timeout_behaviour, keeps_waitpoints } = first
  return {
    suspension:
      suspension_id === null
        ? undefined
        : suspensionOf({ ...first, suspension_id, timeout_behaviour, keeps_waitpoints: keeps_waitpoints! }, signals),
    mostSignals: first.most_signals!,
    receivedCount: first.received_count!,
    waitpointCounts,
  }
}
