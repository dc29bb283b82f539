// Writes the decisions about signals: each with its effect and its event.
import { attached } from '../../../model/attached.ts'
import type { SignalEffect } from '../../../model/signal.ts'
import { call } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import { waitEventColumns } from '../../transition/wake.ts'
import type { Arrival } from './admit.ts'
import { waitpointUuidOf } from './read-locked.ts'

export interface SignalRecord {
  readonly arrival: Arrival
  readonly effect: SignalEffect
  /** The suspension that it counts for. */
  readonly suspensionId: string | null
  /** It satisfies the condition, which has taken it. */
  readonly isTaken: boolean
  /** How many its generation has received, including this one. */
  readonly receivedCount: number
}

/**
 * Follows a CTE `received` with the columns named here, in the order in which the signals were accepted. Their
 * executions are locked. Inserts the signals; `signalledEvents` are their events.
 */
export const recordReceived = `
recorded as (
  insert into flowfabric.ff_signal (execution_id, signal_no, signal_id, waitpoint_id, suspension_id, accepted_at_ms,
    taken_at_ms, generation, effect, received_count, waitpoint_key, signal_name, signal_category, source_type,
    source_identity, claimed_type, claimed_identity, correlation_id, idempotency_key, payload, payload_encoding)
  select execution_id, signal_no, signal_id, waitpoint_id, suspension_id, accepted_at_ms,
    case when is_taken then accepted_at_ms end, generation, effect::flowfabric.ff_signal_effect, received_count, waitpoint_key,
    signal_name, signal_category, source_type::flowfabric.ff_source_type, source_identity, claimed_type, claimed_identity,
    correlation_id, idempotency_key, payload, payload_encoding
  from received
)`

const details = `'signalId', signal_id, 'signalName', signal_name, 'effect', effect, 'category', signal_category,
      'sourceType', source_type, 'sourceIdentity', source_identity`

const withWaitpoint = `case when waitpoint_id is null then jsonb_build_object(${details})
      else jsonb_build_object(${details}, 'waitpointId', '{fp:' || partition_key || '}:' || waitpoint_id) end`

/** Rows of `waitEventColumns`. */
export const signalledEvents = `
  select accepted_at_ms, execution_id, flow_id, generation, 'signalled'::flowfabric.ff_event_type, partition_key, namespace,
    actor, null::text, null::int4,
    case when claimed_type is null then ${withWaitpoint}
      else ${withWaitpoint} || jsonb_build_object('claimedType', claimed_type, 'claimedIdentity', claimed_identity) end
  from received`

const recordStatement = statement({
  name: 'signal.record',
  params: {
    execution_ids: 'uuid[]',
    signal_ids: 'uuid[]',
    waitpoint_ids: 'uuid?[]',
    suspension_ids: 'uuid?[]',
    accepted_ats_ms: 'int8[]',
    are_taken: 'bool[]',
    generations: 'int4[]',
    effects: 'text[]',
    waitpoint_keys: 'text?[]',
    names: 'text[]',
    categories: 'text[]',
    source_types: 'text[]',
    source_identities: 'text[]',
    claimed_types: 'text?[]',
    claimed_identities: 'text?[]',
    correlation_ids: 'text?[]',
    idempotency_keys: 'text?[]',
    payloads: 'bytea?[]',
    encodings: 'text?[]',
    partition_keys: 'int2[]',
    namespaces: 'text[]',
    actors: 'text[]',
    flow_ids: 'uuid?[]',
    signal_nos: 'int8[]',
    received_counts: 'int4[]',
  },
  row: {},
  text: `
with received as materialized (
  select *
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int8[], $6::bool[], $7::int4[], $8::text[], $9::text[],
    $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::bytea[],
    $19::text[], $20::int2[], $21::text[], $22::text[], $23::uuid[], $24::int8[], $25::int4[])
    as i (execution_id, signal_id, waitpoint_id, suspension_id, accepted_at_ms, is_taken, generation,
      effect, waitpoint_key, signal_name, signal_category, source_type, source_identity, claimed_type,
      claimed_identity, correlation_id, idempotency_key, payload, payload_encoding, partition_key, namespace, actor, flow_id, signal_no, received_count)
),
${recordReceived},
logged as (
  insert into flowfabric.ff_event (${waitEventColumns})${signalledEvents}
),
-- Every signal writes its execution, so that a statement that checks this row never decides by a snapshot from before
-- the signal: an ending, a restart, a suspension, or the next signal that is counted (signal.settle). For a signal that
-- ends a wait, the wake writes it. Signals by name that wait for a condition set a bit: the ending reports how many were
-- never taken, and a restart keeps them.
marked as (
  update flowfabric.ff_exec_core e
  set attached = e.attached | case when i.has_kept then ${attached.signals} else 0 end
  from (
    select execution_id, bool_or(effect = 'kept_for_condition' and not is_taken) as has_kept,
      bool_or(effect = 'resume_condition_satisfied') as ends_a_wait
    from received
    group by execution_id
  ) i
  where e.execution_id = any (array[i.execution_id]) and e.lifecycle_phase <> 'terminal'
    and (i.has_kept or not i.ends_a_wait)
)
select`,
})

/** Sent while the executions are locked. */
export function recordCall(records: readonly SignalRecord[]) {
  const items = records.map(({ arrival }) => arrival.item)
  const found = records.map(({ arrival }) => arrival.found)
  return call(recordStatement, {
    execution_ids: found.map((row) => row.execution_id),
    signal_ids: items.map((item) => item.signalId),
    waitpoint_ids: items.map(waitpointUuidOf),
    suspension_ids: records.map(({ suspensionId }) => suspensionId),
    accepted_ats_ms: found.map((row) => row.now_ms),
    are_taken: records.map(({ isTaken }) => isTaken),
    generations: found.map((row) => row.generation),
    effects: records.map(({ effect }) => effect),
    waitpoint_keys: found.map((row) => row.waitpoint_key),
    names: items.map((item) => item.name),
    categories: items.map((item) => item.category),
    source_types: items.map((item) => item.source.type),
    source_identities: items.map((item) => item.source.identity),
    claimed_types: items.map((item) => item.claimed?.type ?? null),
    claimed_identities: items.map((item) => item.claimed?.identity ?? null),
    correlation_ids: items.map((item) => item.correlationId),
    // A signal that arrived too late was refused, and uses up no key.
    idempotency_keys: records.map(({ arrival, effect }) => (effect === 'no_op' ? null : arrival.item.idempotencyKey)),
    payloads: items.map((item) => item.payload),
    encodings: items.map((item) => item.payloadEncoding),
    partition_keys: items.map((item) => item.target.partition),
    namespaces: found.map((row) => row.namespace),
    actors: items.map((item) => item.actor),
    flow_ids: found.map((row) => row.flow_id),
    signal_nos: found.map((row) => row.signal_no),
    received_counts: records.map(({ receivedCount }) => receivedCount),
  })
}
