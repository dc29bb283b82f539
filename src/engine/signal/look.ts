// What is found under the executions' locks: their state, the waitpoint, whether the signal came before, and how many did.
import type { SignalEffect } from '../../model/signal.ts'
import type { LifecyclePhase, PublicState } from '../../model/state.ts'
import type { WaitpointState } from '../../model/suspension.ts'
import { limits } from '../../model/limits.ts'
import { call } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Admitted } from './admit.ts'

const lockParams = { execution_ids: 'uuid[]', partition_keys: 'int2[]', namespaces: 'text?[]' } as const

const lockText = `
select e.execution_id
from unnest($1::uuid[], $2::int2[], $3::text[]) as i (execution_id, partition_key, namespace)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
order by i.execution_id
for no key update of e`

// Passes over what others hold; that is sent again alone.
const lockFree = statement({
  name: 'signal.lock',
  params: lockParams,
  row: { execution_id: 'uuid' },
  text: `${lockText} skip locked`,
})

const lockAlone = statement({
  name: 'signal.lock-alone',
  params: lockParams,
  row: { execution_id: 'uuid' },
  text: lockText,
})

/** `isAlone`: waits for whoever holds the execution. */
export function lockCall(items: readonly Admitted[], isAlone: boolean) {
  return call(isAlone ? lockAlone : lockFree, {
    execution_ids: items.map(({ uuid }) => uuid),
    partition_keys: items.map(({ partition }) => partition),
    namespaces: items.map(({ item }) => item.namespace),
  })
}

const row = {
  ordinal: 'int8',
  now_ms: 'int8',
  namespace: 'text',
  flow_id: 'uuid?',
  generation: 'int4',
  lifecycle_phase: oneOf<LifecyclePhase>(),
  public_state: oneOf<PublicState>(),
  /** All null when it comes by name. */
  waitpoint_key: 'text?',
  waitpoint_state: oneOf<WaitpointState | null>(),
  waitpoint_suspension_id: 'uuid?',
  waitpoint_expires_at_ms: 'int8?',
  waitpoint_signal_count: 'int4?',
  signal_count: 'int8',
  most_signals: 'int4',
  /** Of the signal with the same key, or of this very one when its reply was lost. */
  first_signal_id: 'uuid?',
  first_effect: oneOf<SignalEffect | null>(),
} as const

export type FoundTarget = RowOf<typeof row>

const lookStatement = statement({
  name: 'signal.look',
  params: {
    execution_ids: 'uuid[]',
    partition_keys: 'int2[]',
    namespaces: 'text?[]',
    waitpoint_ids: 'uuid?[]',
    idempotency_keys: 'text?[]',
    signal_ids: 'uuid?[]',
  },
  row,
  text: `
select i.ordinal, flowfabric.ff_now_ms() as now_ms, e.namespace, e.flow_id, e.generation, e.lifecycle_phase, e.public_state,
  p.waitpoint_key, p.state as waitpoint_state, p.suspension_id as waitpoint_suspension_id,
  p.expires_at_ms as waitpoint_expires_at_ms, p.signal_count as waitpoint_signal_count, c.signal_count,
  coalesce((n.policy ->> 'maxSignalCount')::int4, ${limits.signalCount}) as most_signals,
  coalesce(again.signal_id, same.signal_id) as first_signal_id, coalesce(again.effect, same.effect) as first_effect
from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::text[], $6::uuid[])
  with ordinality as i (execution_id, partition_key, namespace, waitpoint_id, idempotency_key, signal_id, ordinal)
join flowfabric.ff_exec_core e
  on e.execution_id = any (array[i.execution_id])
  and e.partition_key = i.partition_key
  and (i.namespace is null or e.namespace = i.namespace)
join flowfabric.ff_exec_input n
  on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
left join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = any (array[i.waitpoint_id])
left join flowfabric.ff_signal same
  on same.execution_id = any (array[i.execution_id])
  and same.idempotency_key = i.idempotency_key
  and coalesce(same.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)
    = coalesce(i.waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)
left join lateral (
  select g.signal_id, g.effect
  from flowfabric.ff_signal g
  where i.signal_id is not null and g.execution_id = any (array[i.execution_id]) and g.signal_id = i.signal_id
  limit 1
) again on true
cross join lateral (
  select count(*) as signal_count
  from flowfabric.ff_signal g
  where g.execution_id = any (array[e.execution_id])
) c`,
})

/** After the lock. `again`: an earlier reply was lost, so each looks for itself too. */
export function lookCall(items: readonly Admitted[], again: boolean) {
  return call(lookStatement, {
    execution_ids: items.map(({ uuid }) => uuid),
    partition_keys: items.map(({ partition }) => partition),
    namespaces: items.map(({ item }) => item.namespace),
    waitpoint_ids: items.map(({ waitpointUuid }) => waitpointUuid),
    idempotency_keys: items.map(({ item }) => item.idempotencyKey),
    signal_ids: items.map(({ item }) => (again ? item.signalId : null)),
  })
}
