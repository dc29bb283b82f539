// A flow as the model reads it (`src/model/ending-facts.ts`), under the lock of its outermost flow.
import type { CancelPolicy, FlowFact } from '../../model/ending-facts.ts'
import type { TerminalOutcome } from '../../model/state.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'

/** Of `ff_flow_core f`, and `ff_exec_core s`, the member that the flow represents, if there is one. */
export const flowFactColumns = `f.flow_id, f.member_id, f.is_held, f.closed_at_ms is not null as is_closed, f.outcome <> 'none' as has_ended,
  f.cancel_policy, f.member_count, f.success_count,
  f.success_count + f.failed_count + f.cancelled_count + f.expired_count + f.skipped_count as ended_count,
  s.terminal_outcome as member_outcome, s.failure_reason as member_reason`

export const flowFactRow = {
  flow_id: 'uuid',
  member_id: 'uuid?',
  is_held: 'bool',
  is_closed: 'bool',
  has_ended: 'bool',
  cancel_policy: oneOf<CancelPolicy | null>(),
  member_count: 'int4',
  success_count: 'int4',
  ended_count: 'int4',
  member_outcome: oneOf<TerminalOutcome | null>(),
  member_reason: 'text?',
} as const

export function flowOf(row: RowOf<typeof flowFactRow>): FlowFact {
  const { member_id: executionId, member_outcome: outcome, member_reason: reason } = row
  return {
    flowId: row.flow_id,
    representative: executionId === null || outcome === null ? null : { executionId, outcome, reason },
    isHeld: row.is_held,
    isClosed: row.is_closed,
    hasEnded: row.has_ended,
    cancelPolicy: row.cancel_policy,
    memberCount: row.member_count,
    successCount: row.success_count,
    endedCount: row.ended_count,
  }
}
