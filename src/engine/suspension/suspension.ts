// A suspension as readers see it, while an execution is in it.
import { blockingReasonOfSuspension, type SuspensionReason, type TimeoutBehaviour } from '../../model/suspension.ts'
import type { BlockingReason } from '../../model/state.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'

export interface Suspension {
  readonly suspensionId: string
  readonly reason: SuspensionReason
  readonly suspendedAt: number
  /** When its timeout fires, and what it does then. */
  readonly timeoutAt: number | null
  readonly timeoutBehaviour: TimeoutBehaviour
  /** From an escalation on it waits for people. */
  readonly escalatedAt: number | null
}

export const suspensionRow = {
  suspension_id: 'uuid?',
  suspension_reason: oneOf<SuspensionReason | null>(),
  suspended_at_ms: 'int8?',
  timeout_at_ms: 'int8?',
  timeout_behaviour: oneOf<TimeoutBehaviour | null>(),
  escalated_at_ms: 'int8?',
} as const

/** Follows `select`; from `ff_suspension_current s`. */
export const suspensionColumns = `
  s.suspension_id, s.reason_code as suspension_reason, s.suspended_at_ms, s.timeout_at_ms,
  case when s.escalated_at_ms is not null then coalesce(s.second_behavior, s.timeout_behavior) else s.timeout_behavior end
    as timeout_behaviour, s.escalated_at_ms`

export function decodeSuspension(row: RowOf<typeof suspensionRow>): Suspension | null {
  if (row.suspension_id === null) return null
  return {
    suspensionId: row.suspension_id,
    reason: row.suspension_reason!,
    suspendedAt: row.suspended_at_ms!,
    timeoutAt: row.timeout_at_ms,
    timeoutBehaviour: row.timeout_behaviour!,
    escalatedAt: row.escalated_at_ms,
  }
}

export function blockingReasonOf({ reason, escalatedAt }: Suspension): BlockingReason {
  return escalatedAt === null ? blockingReasonOfSuspension[reason] : 'paused_by_operator'
}

/** As a sentence: what for, since when, and until when at most. */
export function blockingDetailOf({
  reason,
  suspendedAt,
  timeoutAt,
  escalatedAt,
  timeoutBehaviour,
}: Suspension): string {
  const since = `suspended, ${reason}, since ${instant(suspendedAt)}`
  const escalated = escalatedAt === null ? '' : `, escalated at ${instant(escalatedAt)}`
  const until = timeoutAt === null ? '' : `; its timeout at ${instant(timeoutAt)} means ${timeoutBehaviour}`
  return `${since}${escalated}${until}`
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
