// Restart: the holder begins again with another input, as a new generation, for code that would otherwise never end. What it
// has recorded stays with the old generation; what was sent to it by name and nobody has taken goes on to the new one, and
// waitpoints that were made ahead are closed, because the code that knew their tokens is over.
import { attached } from '../../model/attached.ts'
import type { ExecutionId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import {
  checkFence,
  fencedWhole,
  fenceInput,
  fenceParams,
  fenceValues,
  type Fence,
  type CheckedFence,
} from '../transition/fence.ts'
import { fencedAnswer, fencedRow } from '../transition/fenced-answer.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { byNameSql, doorSql, waitingByName } from '../transition/untaken-signals.ts'
import { checkEncoding, checkPayload } from './create-request.ts'
import { fencedSet, wasAskedToStop } from '../transition/fenced-operation.ts'
import { endsWhenLeftSql } from '../transition/ask-to-stop.ts'
import { leaveHolderWhole } from '../transition/requeue.ts'

export interface RestartRequest extends Fence {
  /** The new input; left out, there is none. */
  readonly payload?: Uint8Array
  readonly payloadEncoding?: string
}

export type RestartResult =
  | { readonly kind: 'restarted'; readonly executionId: ExecutionId }
  /** A cancel was asked for while it ran, so that it does not come back. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }

/** A checked request, as the statement takes it. */
export interface Restart extends CheckedFence {
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
}

export function checkRestartRequest(caller: Caller, request: RestartRequest): Restart {
  refuseUnknownFields('restart', request, ['executionId', 'leaseId', 'leaseEpoch', 'payload', 'payloadEncoding'])
  const { payload, payloadEncoding = 'json' } = request
  return {
    ...checkFence(caller, request),
    payload: payload === undefined ? null : checkPayload(payload),
    payloadEncoding: payload === undefined ? null : checkEncoding(payloadEncoding),
  }
}

const restartRow = { ...fencedRow, is_cancelled: 'bool?', has_ended: 'bool?', queue_id: 'int4?' } as const
type RestartRow = RowOf<typeof restartRow>

const restartStatement = statement({
  name: 'execution.restart',
  params: { ...fenceParams, payloads: 'bytea?[]', payload_encodings: 'text?[]' },
  row: restartRow,
  text: `
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::bytea[], $8::text[])
    with ordinality as i (${fenceInput}, payload, payload_encoding, ordinal)
),
${fencedWhole('payload', 'payload_encoding')},
judged as materialized (
  select v.*, v.now_ms as left_at_ms, v.actor as left_actor, null::text as left_reason,
    case when v.cancel_requested_at_ms is null then 'restarted' else 'released' end::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    -- Asked to stop, it does not begin anew: it ends, or comes back to clean up.
    case when v.cancel_requested_at_ms is null then 'pending_replay_attempt' else 'attempt_interrupted'
      end::flowfabric.ff_attempt_state as next_attempt_state,
    case when v.cancel_requested_at_ms is null then 'none' else 'cancelled' end::flowfabric.ff_interruption
      as next_interruption,
    null::int8 as next_at_ms,
    0 as next_expiry_count,
    v.cancel_requested_at_ms is not null as is_cancelled,
    ${endsWhenLeftSql('v')} as has_ended,
    case when v.cancel_requested_at_ms is null then 'restarted' else 'interrupted' end as attempt_outcome,
    null::text as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    'none'::flowfabric.ff_terminal_outcome as forced_outcome
  from verdict v
),
leaving as materialized (
  select *
  from judged
  where is_held
),
${leaveHolderWhole},
restarting as materialized (
  select execution_id, partition_key, attached, payload, payload_encoding, left_at_ms
  from leaving
  where not is_cancelled
),
renewed_input as (
  update flowfabric.ff_exec_input n
  set payload = r.payload, payload_encoding = r.payload_encoding
  from restarting r
  where n.partition_key = any (array[r.partition_key]) and n.execution_id = any (array[r.execution_id])
),
-- What was sent by name goes along: to be taken, and its key, so that a repeat of what was taken is still one. What is there
-- for its key alone is none of the signals that the new generation may receive. The newest of all goes along to tell that count.
kept_signal as materialized (
  select r.execution_id, g.signal_no, sum(g.counts) over (partition by r.execution_id) as received_count
  from restarting r
  join flowfabric.ff_exec_core e on e.execution_id = any (array[r.execution_id])
  cross join lateral (
    select k.signal_no, max(k.counts) as counts
    from (
      select g.signal_no, 1 as counts
      from (${waitingByName('e')}
      ) g
      union all
      select g.signal_no, 0
      from flowfabric.ff_signal g
      where g.execution_id = any (array[e.execution_id]) and g.idempotency_key is not null
        and ${doorSql('g')} = ${byNameSql} and g.generation = e.generation
      union all
      select n.signal_no, 0
      from (
        select g.signal_no, g.generation
        from flowfabric.ff_signal g
        where g.execution_id = e.execution_id
        order by g.signal_no desc
        limit 1
      ) n
      where n.generation = e.generation
    ) k
    group by k.signal_no
  ) g
),
kept_signals as (
  update flowfabric.ff_signal g
  set generation = g.generation + 1, received_count = k.received_count
  from kept_signal k
  where g.execution_id = any (array[k.execution_id]) and g.signal_no = any (array[k.signal_no])
),
closed_waitpoints as (
  update flowfabric.ff_waitpoint_pending p
  set state = 'closed', closed_at_ms = r.left_at_ms, close_reason = 'proactive_close', expires_at_ms = null
  from restarting r
  where r.attached & ${attached.waitpoints} <> 0 and p.execution_id = any (array[r.execution_id])
    and p.state = 'pending'
)
${fencedAnswer('judged', 'is_cancelled', 'has_ended', 'queue_id')}`,
})

export function restartOperation(
  sql: Sql,
  onReady: (queueIds: Iterable<number>) => void,
  onOwed: (owes: number) => void,
): SetOperation<Restart, RestartResult> {
  const cancelled = ({ executionId }: CheckedFence): RestartResult => ({ kind: 'cancelled', executionId })
  const restarted = ({ executionId }: CheckedFence): RestartResult => ({ kind: 'restarted', executionId })
  return {
    ...fencedSet<Restart, RestartRow, RestartResult>(sql, {
      callOf: (items) =>
        call(restartStatement, {
          ...fenceValues(items),
          payloads: items.map((item) => item.payload),
          payload_encodings: items.map((item) => item.payloadEncoding),
        }),
      readyQueueOf: (row) => (row.has_ended === true ? null : row.queue_id),
      onReady,
      hasEnded: (row) => row.has_ended === true,
      onOwed,
      answer: (item, row) => (row.is_cancelled === true ? cancelled(item) : restarted(item)),
      repeat(item, record) {
        if (wasAskedToStop(record) || (record.cancel_requested && record.left_as === 'released')) return cancelled(item)
        return record.left_as === 'restarted' ? restarted(item) : null
      },
    }),
    bytesOf: (item) => 256 + (item.payload?.byteLength ?? 0),
  }
}
