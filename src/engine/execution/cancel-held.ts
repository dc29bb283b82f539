// The cancel of a holder, which names its lease: it ends only that execution, and a repeat returns the result of the first. A
// cancel without a lease is an operator's, in `cancel.ts`.
import { endingOfHolderCancel } from '../../model/departure.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import type { Sql } from '../../sql/sql.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { departingSet, type Departure } from '../transition/departing-set.ts'
import type { CheckedFence } from '../transition/fence.ts'
import type { LeaseRecord } from '../transition/lease-record.ts'
import type { CancelResult } from './cancel.ts'

/** A checked request. */
export interface HeldCancellation extends CheckedFence {
  readonly reason: string | null
}

export function cancelHeldOperation(sql: Sql): SetOperation<HeldCancellation, CancelResult> {
  return departingSet<HeldCancellation, CancelResult>(sql, { facts: null, decide, repeat })
}

function decide(item: HeldCancellation, execution: LockedExecution): Departure<CancelResult> {
  return { answer: cancelled(item), ending: endingOfHolderCancel(execution, item.reason, item.actor) }
}

function repeat(item: HeldCancellation, { left_as: leftAs, outcome }: LeaseRecord): CancelResult | null {
  if (outcome !== 'cancelled') return null
  return leftAs === 'ended' ? cancelled(item) : { kind: 'already_cancelled', executionId: item.executionId }
}

function cancelled({ executionId }: CheckedFence): CancelResult {
  return { kind: 'cancelled', executionId, from: 'active' }
}
