// A signal as readers see it.
import { formatExecutionId, formatWaitpointId, type ExecutionId, type WaitpointId } from '../../model/id.ts'
import type { ClaimedSource, SignalEffect, SignalSource, SourceType } from '../../model/signal.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'

export interface Signal {
  readonly signalId: string
  readonly executionId: ExecutionId
  readonly name: string
  readonly category: string
  /** The proved source. */
  readonly source: SignalSource
  /** The sender's own claim; null without one. */
  readonly claimed: ClaimedSource | null
  /** Null when it was sent by name. */
  readonly waitpointId: WaitpointId | null
  readonly waitpointKey: string | null
  readonly correlationId: string | null
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
  /** Its effect when it was accepted. */
  readonly effect: SignalEffect
  readonly acceptedAt: number
  /** When a condition that it satisfied took it. */
  readonly takenAt: number | null
}

export const signalRow = {
  execution_id: 'uuid',
  partition_key: 'int2',
  signal_id: 'uuid',
  waitpoint_id: 'uuid?',
  waitpoint_key: 'text?',
  signal_name: 'text',
  signal_category: 'text',
  source_type: oneOf<SourceType>(),
  source_identity: 'text',
  claimed_type: 'text?',
  claimed_identity: 'text?',
  correlation_id: 'text?',
  payload: 'bytea?',
  payload_encoding: 'text?',
  effect: oneOf<SignalEffect>(),
  accepted_at_ms: 'int8',
  taken_at_ms: 'int8?',
} as const

/** Follows `select`, from `ff_signal g` and a row with the execution's partition. */
export function signalColumns(partition: string, payload = 'g.payload'): string {
  return `g.execution_id, ${partition} as partition_key, g.signal_id, g.waitpoint_id, g.waitpoint_key, g.signal_name,
  g.signal_category, g.source_type, g.source_identity, g.claimed_type, g.claimed_identity, g.correlation_id, ${payload} as payload,
  g.payload_encoding, g.effect, g.accepted_at_ms, g.taken_at_ms`
}

export function decodeSignal(row: Omit<RowOf<typeof signalRow>, 'payload'>, payload: Uint8Array | null): Signal {
  return {
    signalId: row.signal_id,
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    name: row.signal_name,
    category: row.signal_category,
    source: { type: row.source_type, identity: row.source_identity },
    claimed: row.claimed_type === null ? null : { type: row.claimed_type, identity: row.claimed_identity! },
    waitpointId: row.waitpoint_id === null ? null : formatWaitpointId(row.partition_key, row.waitpoint_id),
    waitpointKey: row.waitpoint_key,
    correlationId: row.correlation_id,
    payload,
    payloadEncoding: row.payload_encoding,
    effect: row.effect,
    acceptedAt: row.accepted_at_ms,
    takenAt: row.taken_at_ms,
  }
}
