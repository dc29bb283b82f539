// An event as users see it, and as the readers of the log select it.
import { parseActor } from '../../model/actor.ts'
import { eventKinds, type EventKind } from '../../model/event-kind.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import type { TerminalOutcome } from '../../model/state.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'
import { encodeEventCursor } from './cursor.ts'

export type { EventKind }
export type LeaseEffect = 'acquired' | 'renewed' | 'expired' | 'reclaimed' | 'revoked'

export interface LogEvent {
  /** Pass it as `after` to continue after this event. */
  readonly cursor: string
  readonly kind: EventKind
  readonly executionId: ExecutionId | null
  readonly flowId: FlowId | null
  readonly namespace: string
  /** The actor: over HTTP, the name of the API key. */
  readonly actor: string
  /** The id of that key; names are not unique. Null without a key. */
  readonly keyId: string | null
  /** The actor on whose behalf an admin key acted, as the key stated. */
  readonly onBehalfOf: string | null
  readonly occurredAt: number
  readonly generation: number | null
  readonly attemptIndex: number | null
  /** The effect of the transition on the lease, if any; then the lease is named. */
  readonly leaseEffect: LeaseEffect | null
  readonly leaseId: string | null
  readonly leaseEpoch: number | null
  readonly workerInstanceId: string | null
  /** For an ending. */
  readonly outcome: Exclude<TerminalOutcome, 'none'> | null
  readonly reason: string | null
  readonly details: unknown
}

export const eventRow = {
  event_id: 'int8',
  occurred_at_ms: 'int8',
  lease_epoch: 'int8?',
  execution_id: 'uuid?',
  flow_id: 'uuid?',
  lease_id: 'uuid?',
  attempt_index: 'int4?',
  generation: 'int4?',
  event_type: 'text',
  lease_effect: oneOf<LeaseEffect | null>(),
  outcome: oneOf<Exclude<TerminalOutcome, 'none'> | null>(),
  partition_key: 'int2',
  namespace: 'text',
  actor: 'text',
  worker_instance_id: 'text?',
  reason: 'text?',
  details: 'jsonb?',
} as const

export type EventRow = RowOf<typeof eventRow>

/** Follows `select`, from `ff_event e`. */
export const eventColumns = `
  e.event_id, e.occurred_at_ms, e.lease_epoch, e.execution_id, e.flow_id, e.lease_id, e.attempt_index, e.generation,
  e.event_type::text as event_type, e.lease_effect, e.outcome, e.partition_key, e.namespace, e.actor,
  e.worker_instance_id, e.reason, e.details`

/** False: a later version wrote it, and its meaning is not known here. */
export function isKnownKind(kind: string): kind is EventKind {
  return (eventKinds as readonly string[]).includes(kind)
}

export function decodeEvent(row: EventRow): LogEvent {
  const { name, keyId, onBehalfOf } = parseActor(row.actor)
  return {
    cursor: encodeEventCursor(row.event_id),
    kind: row.event_type as EventKind,
    executionId: row.execution_id === null ? null : formatExecutionId(row.partition_key, row.execution_id),
    flowId: row.flow_id === null ? null : formatFlowId(row.partition_key, row.flow_id),
    namespace: row.namespace,
    actor: name,
    keyId,
    onBehalfOf,
    occurredAt: row.occurred_at_ms,
    generation: row.generation,
    attemptIndex: row.attempt_index,
    leaseEffect: row.lease_effect,
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    workerInstanceId: row.worker_instance_id,
    outcome: row.outcome,
    reason: row.reason,
    details: row.details,
  }
}

const decoded = new WeakMap<EventRow, LogEvent>()

/**
 * For rows with many readers: they share one event, which none of them can change (measured: a thousand read with half
 * the work).
 */
export function decodeOnce(row: EventRow): LogEvent {
  const known = decoded.get(row)
  if (known !== undefined) return known
  const event = Object.freeze(decodeEvent(row))
  decoded.set(row, event)
  return event
}
