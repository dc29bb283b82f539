// What is found under the executions' locks: their state, the waitpoint, and whether the signal came before.
import { limits } from '../../model/limits.ts'
import type { SignalEffect } from '../../model/signal.ts'
import type { LifecyclePhase, PublicState } from '../../model/state.ts'
import type { WaitpointState } from '../../model/suspension.ts'
import { kidOf } from '../../model/token.ts'
import { call } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { keyByKid, storedKeyRow } from '../signing-key/stored-key.ts'
import type { Door, Incoming } from './incoming.ts'

const targetParams = {
  waitpoint_ids: 'uuid?[]',
  execution_ids: 'uuid?[]',
  partition_keys: 'int2[]',
  namespaces: 'text?[]',
} as const

function targetValues(items: readonly Incoming[]) {
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

// Passes over what others hold; that is sent again alone.
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

/** `isAlone`: waits for whoever holds the execution. */
export function lockCall(items: readonly Incoming[], isAlone: boolean) {
  return call(isAlone ? lockAlone : lockFree, targetValues(items))
}

const row = {
  ordinal: 'int8',
  now_ms: 'int8',
  execution_id: 'uuid',
  namespace: 'text',
  lane_id: 'text',
  flow_id: 'uuid?',
  generation: 'int4',
  lifecycle_phase: oneOf<LifecyclePhase>(),
  public_state: oneOf<PublicState>(),
  /** All null when it comes by name. */
  waitpoint_key: 'text?',
  waitpoint_created_at_ms: 'int8?',
  waitpoint_state: oneOf<WaitpointState | null>(),
  waitpoint_suspension_id: 'uuid?',
  waitpoint_expires_at_ms: 'int8?',
  most_signals: 'int4',
  /** Of the signal with the same key, or of this very one when its reply was lost. */
  first_signal_id: 'uuid?',
  first_effect: oneOf<SignalEffect | null>(),
  /** The key that the token or link names. */
  ...storedKeyRow,
} as const

export type FoundTarget = RowOf<typeof row>

const lookStatement = statement({
  name: 'signal.look',
  params: { ...targetParams, kids: 'text?[]', idempotency_keys: 'text?[]', signal_ids: 'uuid?[]' },
  row,
  text: `
select i.ordinal, flowfabric.ff_now_ms() as now_ms, e.execution_id, e.namespace, q.lane_id, e.flow_id, e.generation,
  e.lifecycle_phase, e.public_state, p.waitpoint_key, p.created_at_ms as waitpoint_created_at_ms,
  p.state as waitpoint_state, p.suspension_id as waitpoint_suspension_id, p.expires_at_ms as waitpoint_expires_at_ms,
  coalesce((n.policy ->> 'maxSignalCount')::int4, ${limits.signalCount}) as most_signals,
  coalesce(again.signal_id, same.signal_id) as first_signal_id, coalesce(again.effect, same.effect) as first_effect,
  k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret
from unnest($1::uuid[], $2::uuid[], $3::int2[], $4::text[], $5::text[], $6::text[], $7::uuid[])
  with ordinality as i (waitpoint_id, execution_id, partition_key, namespace, kid, idempotency_key, signal_id, ordinal)${target}
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])
join flowfabric.ff_exec_input n
  on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])${keyByKid('e.namespace', 'i.kid')}
left join flowfabric.ff_signal same
  on same.execution_id = any (array[e.execution_id])
  and same.idempotency_key = i.idempotency_key
  and coalesce(same.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)
    = coalesce(i.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)
left join lateral (
  select g.signal_id, g.effect
  from flowfabric.ff_signal g
  where i.signal_id is not null and g.execution_id = any (array[e.execution_id]) and g.signal_id = i.signal_id
  limit 1
) again on true`,
})

/** After the lock. `again`: an earlier reply was lost, so each looks for itself too. */
export function lookCall(items: readonly Incoming[], again: boolean) {
  return call(lookStatement, {
    ...targetValues(items),
    kids: items.map(({ door }) => claimedKid(door)),
    idempotency_keys: items.map(({ idempotencyKey }) => idempotencyKey),
    signal_ids: items.map(({ signalId }) => (again ? signalId : null)),
  })
}

function claimedKid(door: Door): string | null {
  if (door.by === 'link') return door.kid
  return door.by === 'token' && typeof door.token === 'string' ? kidOf(door.token) : null
}
