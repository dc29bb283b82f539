// Signals that end a wait by themselves: one statement records them and wakes their executions. It waits for no lock,
// and settles a signal only if nothing changed since `answerable.ts` read it:
// - the same suspension is open
// - no point in time of its condition has come
// - the signing key is still valid
// - no earlier signal has the same idempotency key
// - there is room for one more
// The statement skips all other signals, and they take the general path.
//
// It also skips an execution that was changed since the statement began, which it detects by `xmin`. Every operation
// that opens or closes a suspension, and every other signal, writes the execution too. So the count of signals in the
// newest record is exact.
import { formatExecutionId } from '../../../model/id.ts'
import { call, type Sql } from '../../../sql/sql.ts'
import { statement, type RowOf } from '../../../sql/statement.ts'
import { clockAfter } from '../../kernel/after-lock.ts'
import { noEffects, type Effects, type Written } from '../../kernel/effects.ts'
import type { HintCarrier } from '../../kernel/hint.ts'
import { isLiveSql } from '../../signing-key/stored-key.ts'
import { wakeSuspended } from '../../transition/wake.ts'
import type { WaitAnswer } from './answerable.ts'
import { isFirstWithRoom, receivedCount } from '../earlier-signals.ts'
import type { Incoming, SignalResult } from './incoming.ts'
import { waitpointUuidOf } from './read-locked.ts'
import { recordReceived, signalledEvents } from './record.ts'

const settleStatement = statement({
  name: 'signal.settle',
  params: {
    execution_ids: 'uuid[]',
    suspension_ids: 'uuid[]',
    waitpoint_ids: 'uuid?[]',
    waitpoint_keys: 'text?[]',
    key_scopes: 'text?[]',
    kids: 'text?[]',
    signal_ids: 'uuid[]',
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
    actors: 'text[]',
    outcomes: 'jsonb[]',
    channel: 'text?',
  },
  row: { ordinal: 'int8', queue_id: 'int4', resume_delay_ms: 'int8?', is_hinted: 'bool' },
  text: `
with target as materialized (
  select i.*, e.partition_key, e.namespace, e.flow_id, e.generation, e.attached, e.queue_id
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::bytea[], $17::text[], $18::text[],
      $19::jsonb[])
    with ordinality as i (execution_id, suspension_id, waitpoint_id, waitpoint_key, key_scope, kid, signal_id, signal_name,
      signal_category, source_type, source_identity, claimed_type, claimed_identity, correlation_id, idempotency_key,
      payload, payload_encoding, actor, outcome, ordinal)
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_core e on e.ctid = seen.ctid and e.xmin = seen.xmin
  for no key update of e skip locked
),
${clockAfter('target')},
received as materialized (
  select t.*, k.now_ms as accepted_at_ms, s.resume_delay_ms, true as is_taken, 'resume_condition_satisfied' as effect,
    nextval('flowfabric.ff_signal_no') as signal_no, before.received_count + 1 as received_count
  from target t
  cross join clock k
  cross join lateral (select ${receivedCount('t')} as received_count offset 0) before
  join flowfabric.ff_suspension_current s on s.execution_id = any (array[t.execution_id])
  where s.suspension_id = t.suspension_id and s.closed_at_ms is null
    and (s.wake_at_ms is null or s.wake_at_ms > k.now_ms)
    and (t.kid is null or exists (
      select from flowfabric.ff_waitpoint_hmac h
      where h.namespace = any (array[t.key_scope]) and h.kid = any (array[t.kid]) and ${isLiveSql('h', 'k.now_ms')}))
    and ${isFirstWithRoom('t', 'before.received_count')}
),
${recordReceived},
waking as (
  select execution_id, 'signalled'::flowfabric.ff_interruption as wake_interruption, resume_delay_ms as wake_delay_ms,
    accepted_at_ms as woken_at_ms, actor as wake_actor, null::text as wake_reason, 'resumed' as wake_close_reason,
    outcome as wake_outcome, jsonb_build_array(waitpoint_key) as wake_answered, array[signal_no] as wake_signal_nos
  from received
),
-- The events of the signals come before the events of their effects.
${wakeSuspended(`${signalledEvents}
  union all`)}
select ordinal, queue_id, resume_delay_ms,
  -- One notification for each queue: the database drops a repeated one in the same transaction.
  $20::text is not null and coalesce(resume_delay_ms, 0) = 0 and pg_notify($20, queue_id::text) is not null as is_hinted
from received`,
})

/** Returns the settled signals. */
export async function settleSignals(
  sql: Sql,
  carrier: HintCarrier,
  answers: readonly WaitAnswer[],
): Promise<Written<ReadonlyMap<Incoming, SignalResult>>> {
  const [rows] = await sql.pipeline([call(settleStatement, { ...valuesOf(answers), channel: carrier.carrier() })])
  const answer = new Map(
    rows.map((row): [Incoming, SignalResult] => {
      const { item, uuid } = answers[row.ordinal - 1]!
      const executionId = formatExecutionId(item.target.partition, uuid)
      const { signalId } = item
      return [item, { kind: 'accepted', executionId, signalId, effect: 'resume_condition_satisfied' }]
    }),
  )
  return { answer, effects: effectsOf(rows) }
}

function effectsOf(rows: readonly RowOf<typeof settleStatement.row>[]): Effects {
  if (rows.length === 0) return noEffects
  const ready = new Set<number>()
  let [delay, isNotified] = [Infinity, false]
  for (const { queue_id: queueId, resume_delay_ms: delayMs, is_hinted: isHinted } of rows) {
    if (delayMs === null || delayMs === 0) ready.add(queueId)
    else delay = Math.min(delay, delayMs)
    if (isHinted) isNotified = true
  }
  const others = { dueInMs: delay === Infinity ? {} : { delay }, wroteEvents: true }
  return isNotified ? { notifiedQueueIds: [...ready], ...others } : { readyQueueIds: [...ready], ...others }
}

function valuesOf(answers: readonly WaitAnswer[]) {
  const items = answers.map(({ item }) => item)
  return {
    execution_ids: answers.map(({ uuid }) => uuid),
    suspension_ids: answers.map(({ suspensionId }) => suspensionId),
    waitpoint_ids: items.map(waitpointUuidOf),
    waitpoint_keys: answers.map(({ waitpointKey }) => waitpointKey),
    key_scopes: answers.map(({ keyScope }) => keyScope),
    kids: answers.map(({ kid }) => kid),
    signal_ids: items.map((item) => item.signalId),
    names: items.map((item) => item.name),
    categories: items.map((item) => item.category),
    source_types: items.map((item) => item.source.type),
    source_identities: items.map((item) => item.source.identity),
    claimed_types: items.map((item) => item.claimed?.type ?? null),
    claimed_identities: items.map((item) => item.claimed?.identity ?? null),
    correlation_ids: items.map((item) => item.correlationId),
    idempotency_keys: items.map((item) => item.idempotencyKey),
    payloads: items.map((item) => item.payload),
    encodings: items.map((item) => item.payloadEncoding),
    actors: items.map((item) => item.actor),
    outcomes: answers.map(({ evaluation }) => evaluation),
  }
}
