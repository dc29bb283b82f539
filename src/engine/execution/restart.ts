// Restart: the holder starts over with another input, as a new generation, for code that would otherwise never end. Its recorded
// steps stay with the old generation. Untaken signals that were sent by name go to the new one. Waitpoints that were created ahead
// close, because the code that knew their tokens has ended.
import { attached } from '../../model/attached.ts'
import { decideRestart } from '../../model/departure.ts'
import { bytes, encodingOf } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { departingSet, type Departed, type Departure } from '../transition/departing-set.ts'
import type { CheckedFence } from '../transition/fence.ts'
import { fencedRequest } from '../transition/fenced-request.ts'
import { wasAskedToStop, type LeaseRecord } from '../transition/lease-record.ts'
import { byNameSql, doorSql, waitingByName } from '../transition/untaken-signals.ts'

export const restartRequest = fencedRequest('restart', {
  /** The new input; if omitted, the new generation has none. */
  payload: bytes({ maxBytes: limits.payloadBytes, advice: 'Keep it elsewhere and send a reference' }).optional(),
  payloadEncoding: encodingOf('payload'),
})

export interface RestartRequest extends RequestOf<typeof restartRequest.fields> {}

type Restart = ItemOf<typeof restartRequest>

export type RestartResult =
  | { readonly kind: 'restarted'; readonly executionId: ExecutionId }
  /** It was asked to stop while it ran, so it ended and does not start over. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

const beginStatement = statement({
  name: 'execution.begin-generation',
  params: {
    execution_ids: 'uuid[]',
    partition_keys: 'int2[]',
    left_generations: 'int4[]',
    left_ats_ms: 'int8[]',
    have_waitpoints: 'bool[]',
    payloads: 'bytea?[]',
    payload_encodings: 'text?[]',
  },
  row: {},
  text: `
with restarting as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::int4[], $4::int8[], $5::bool[], $6::bytea[], $7::text[])
    as r (execution_id, partition_key, generation, left_at_ms, has_waitpoints, payload, payload_encoding)
),
renewed_input as (
  update flowfabric.ff_exec_input n
  set payload = r.payload, payload_encoding = r.payload_encoding
  from restarting r
  where n.partition_key = any (array[r.partition_key]) and n.execution_id = any (array[r.execution_id])
),
-- Untaken signals by name move to the new generation. A taken one moves for its key, so that a repeat of it stays a repeat. The
-- newest signal moves because it has the count of all. Only the untaken ones count toward what the new generation may receive.
kept_signal as materialized (
  select r.execution_id, g.signal_no, sum(g.counts) over (partition by r.execution_id) as received_count
  from restarting r
  cross join lateral (
    select k.signal_no, max(k.counts) as counts
    from (
      select g.signal_no, 1 as counts
      from (${waitingByName('r')}
      ) g
      union all
      select g.signal_no, 0
      from flowfabric.ff_signal g
      where g.execution_id = any (array[r.execution_id]) and g.idempotency_key is not null
        and ${doorSql('g')} = ${byNameSql} and g.generation = r.generation
      union all
      select n.signal_no, 0
      from (
        select g.signal_no, g.generation
        from flowfabric.ff_signal g
        where g.execution_id = r.execution_id
        order by g.signal_no desc
        limit 1
      ) n
      where n.generation = r.generation
    ) k
    group by k.signal_no
  ) g
),
kept_signals as (
  update flowfabric.ff_signal g
  set generation = g.generation + 1, received_count = k.received_count
  from kept_signal k
  where g.execution_id = any (array[k.execution_id]) and g.signal_no = any (array[k.signal_no])
)
update flowfabric.ff_waitpoint_pending p
set state = 'closed', closed_at_ms = r.left_at_ms, close_reason = 'proactive_close', expires_at_ms = null
from restarting r
where r.has_waitpoints and p.execution_id = any (array[r.execution_id]) and p.state = 'pending'`,
})

export function restartOperation(sql: Sql): SetOperation<Restart, RestartResult> {
  const set = departingSet<Restart, RestartResult>(sql, { facts: null, decide, repeat, alsoWrite })
  return { ...set, bytesOf: (item) => 256 + (item.payload?.byteLength ?? 0) }
}

function decide(item: Restart, execution: LockedExecution): Departure<RestartResult> {
  const decision = decideRestart(execution, item.actor)
  if (decision.kind === 'cancelled') return { answer: cancelled(item), ending: decision.ending }
  const atOnce = { reason: null, nextAt: null, expiryCount: 0 }
  if (decision.kind === 'cleans_up') {
    return {
      answer: cancelled(item),
      requeue: {
        ...atOnce,
        event: 'released',
        attemptState: 'attempt_interrupted',
        interruption: 'cancelled',
        attemptOutcome: 'interrupted',
      },
    }
  }
  return {
    answer: restarted(item),
    requeue: {
      ...atOnce,
      event: 'restarted',
      attemptState: 'pending_replay_attempt',
      interruption: 'none',
      attemptOutcome: 'restarted',
    },
  }
}

function alsoWrite(departed: readonly Departed<Restart, RestartResult>[]) {
  const restarting = departed.filter(({ departure }) => departure.answer.kind === 'restarted')
  if (restarting.length === 0) return []
  return [
    call(beginStatement, {
      execution_ids: restarting.map(({ item }) => item.uuid),
      partition_keys: restarting.map(({ item }) => item.partition),
      left_generations: restarting.map(({ execution }) => execution.generation),
      left_ats_ms: restarting.map(({ execution }) => execution.now),
      have_waitpoints: restarting.map(({ execution }) => (execution.attached & attached.waitpoints) !== 0),
      payloads: restarting.map(({ item }) => item.payload),
      payload_encodings: restarting.map(({ item }) => item.payloadEncoding),
    }),
  ]
}

function repeat(item: Restart, record: LeaseRecord): RestartResult | null {
  if (wasAskedToStop(record) || (record.cancel_requested && record.left_as === 'released')) return cancelled(item)
  return record.left_as === 'restarted' ? restarted(item) : null
}

function cancelled({ executionId }: CheckedFence): RestartResult {
  return { kind: 'cancelled', executionId }
}

function restarted({ executionId }: CheckedFence): RestartResult {
  return { kind: 'restarted', executionId }
}
