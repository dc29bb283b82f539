// A suspension as readers see it, while an execution is in it.
import type { Condition } from '../../../model/condition.ts'
import { blockingReasonOfSuspension, type SuspensionReason, type TimeoutBehaviour } from '../../../model/suspension.ts'
import type { BlockingReason } from '../../../model/state.ts'
import { oneOf, type RowOf } from '../../../sql/statement.ts'

export interface Suspension {
  readonly suspensionId: string
  readonly reason: SuspensionReason
  readonly suspendedAt: number
  /** When its timeout fires, and its behaviour. */
  readonly timeoutAt: number | null
  readonly timeoutBehaviour: TimeoutBehaviour
  /** From an escalation on it waits for people. */
  readonly escalatedAt: number | null
  /** The root of its condition; `suspensions.describe` has it whole. */
  readonly conditionKind: Condition['kind']
}

export const suspensionRow = {
  suspension_id: 'uuid?',
  suspension_reason: oneOf<SuspensionReason | null>(),
  suspended_at_ms: 'int8?',
  timeout_at_ms: 'int8?',
  timeout_behaviour: oneOf<TimeoutBehaviour | null>(),
  escalated_at_ms: 'int8?',
  condition_kind: oneOf<Condition['kind'] | null>(),
} as const

/** Follows `select`; from `ff_suspension_current s`. */
export const suspensionColumns = `
  s.suspension_id, s.reason_code as suspension_reason, s.suspended_at_ms, s.timeout_at_ms,
  case when s.escalated_at_ms is not null then coalesce(s.second_behavior, s.timeout_behavior) else s.timeout_behavior end
    as timeout_behaviour, s.escalated_at_ms, s.condition ->> 'kind' as condition_kind`

export function decodeSuspension(row: RowOf<typeof suspensionRow>): Suspension | null {
  if (row.suspension_id === null) return null
  return {
    suspensionId: row.suspension_id,
    reason: row.suspension_reason!,
    suspendedAt: row.suspended_at_ms!,
    timeoutAt: row.timeout_at_ms,
    timeoutBehaviour: row.timeout_behaviour!,
    escalatedAt: row.escalated_at_ms,
    conditionKind: row.condition_kind!,
  }
}

// The default reason is 'waiting_for_signal', also where no signal helps.
const withoutSignals: Partial<
  Record<Condition['kind'], { readonly reason: BlockingReason; readonly waitsFor: string }>
> = {
  child: { reason: 'waiting_for_children', waitsFor: 'a child to end' },
  time: { reason: 'waiting_for_delay', waitsFor: 'a point in time' },
  timeout: { reason: 'waiting_for_delay', waitsFor: 'its timeout' },
  operator: { reason: 'paused_by_operator', waitsFor: 'an operator' },
}

function whatElse({ reason, conditionKind }: Suspension) {
  return reason === 'waiting_for_signal' ? withoutSignals[conditionKind] : undefined
}

export function blockingReasonOf(suspension: Suspension): BlockingReason {
  if (suspension.escalatedAt !== null) return 'paused_by_operator'
  return whatElse(suspension)?.reason ?? blockingReasonOfSuspension[suspension.reason]
}

/** As a sentence: the condition, since when, and until when at most. */
export function blockingDetailOf(suspension: Suspension): string {
  const { reason, suspendedAt, timeoutAt, escalatedAt, timeoutBehaviour } = suspension
  const other = whatElse(suspension)
  const what = other === undefined ? reason : `waiting for ${other.waitsFor}`
  const escalated = escalatedAt === null ? '' : `, escalated at ${instant(escalatedAt)}`
  const until = timeoutAt === null ? '' : `; times out at ${instant(timeoutAt)} (${timeoutBehaviour})`
  return `suspended, ${what}, since ${instant(suspendedAt)}${escalated}${until}`
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
