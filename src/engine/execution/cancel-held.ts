// The cancel of a holder, which names its lease: it ends what it holds and nothing else, and a repeat answers as the first
// did. Whoever names no lease cancels as an operator does, in `cancel.ts`.
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { fencedWhole, fenceInput, fenceParams, fenceValues } from '../transition/fence.ts'
import { fencedRow, writtenAnswer } from '../transition/fenced-answer.ts'
import type { CheckedFence } from '../transition/fence.ts'
import type { FencedRow } from '../transition/fenced-answer.ts'
import type { SetOperation } from '../kernel/merge.ts'
import type { CancelResult } from './cancel.ts'
import { endExecutionsWhole, endsWithoutMore } from '../transition/ending.ts'
import { fencedSet } from '../transition/fenced-operation.ts'

/** A checked request, as the statement takes it. */
export interface HeldCancellation extends CheckedFence {
  readonly reason: string | null
}

const cancelHeldStatement = statement({
  name: 'execution.cancel-held',
  params: { ...fenceParams, reasons: 'text?[]' },
  row: fencedRow,
  text: `
with input as (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::uuid[], $5::int8[], $6::text[], $7::text[])
    with ordinality as i (${fenceInput}, reason, ordinal)
),
${fencedWhole('reason')},
ending as materialized (
  select v.*, coalesce(v.stop_outcome, 'cancelled'::flowfabric.ff_terminal_outcome) as ending_outcome,
    coalesce(v.reason, v.cancellation_reason) as ending_reason, coalesce(v.cancelled_by, v.actor) as ending_actor, v.now_ms as ended_at_ms,
    ${endsWithoutMore}
  from verdict v
  where v.is_held
),
${endExecutionsWhole}
${writtenAnswer}`,
})

export function cancelHeldOperation(
  sql: Sql,
  onOwed: (owes: number) => void,
): SetOperation<HeldCancellation, CancelResult> {
  const cancelled = ({ executionId }: CheckedFence): CancelResult => ({
    kind: 'cancelled',
    executionId,
    from: 'active',
  })
  return fencedSet<HeldCancellation, FencedRow, CancelResult>(sql, {
    callOf: (items) => call(cancelHeldStatement, { ...fenceValues(items), reasons: items.map((item) => item.reason) }),
    hasEnded: () => true,
    onOwed,
    answer: cancelled,
    repeat(item, { left_as: leftAs, outcome }) {
      if (outcome !== 'cancelled') return null
      return leftAs === 'ended' ? cancelled(item) : { kind: 'already_cancelled', executionId: item.executionId }
    },
  })
}
