// Stops executions that were asked to stop when their holder wants to suspend them: each ends, or if it has a compensation, it returns
// to the queue for its clean-up.
import { cancelledWhenLeft, endsWhenLeft, type Stoppable } from '../../../model/stop.ts'
import type { Call } from '../../../sql/sql.ts'
import type { Effects } from '../../kernel/effects.ts'
import { pendingDispatchOf } from '../../kernel/pending-dispatch.ts'
import { endCall } from '../../transition/end.ts'
import { requeueCall } from '../../transition/requeue.ts'
import type { Stopped } from './evaluate.ts'

/** For executions that the transaction has locked and found held. */
export function stopCalls(stopped: readonly Stopped[]): readonly Call[] {
  const [ending, requeued] = parted(stopped)
  const endings = ending.map(({ item: { uuid, actor }, row }) => {
    return { uuid, endedAt: row.now_ms, ...cancelledWhenLeft(stoppableOf(row), actor) }
  })
  const requeues = requeued.map(({ item: { uuid, actor }, row }) => {
    return {
      uuid,
      leftAt: row.now_ms,
      actor,
      reason: 'cancel_requested',
      event: 'released',
      leaseEffect: 'revoked',
      attemptState: 'attempt_interrupted',
      interruption: 'cancelled',
      nextAt: null,
      expiryCount: 0,
      attemptOutcome: 'interrupted',
    } as const
  })
  return [...(requeues.length > 0 ? [requeueCall(requeues)] : []), ...(endings.length > 0 ? [endCall(endings)] : [])]
}

export function effectsOfStopped(stopped: readonly Stopped[]): Effects {
  const [ending, requeued] = parted(stopped)
  return {
    readyQueueIds: [...new Set(requeued.map(({ row }) => row.queue_id))],
    pendingDispatch: ending.reduce((bits, { row }) => bits | pendingDispatchOf(row.attached), 0),
    wroteEvents: true,
  }
}

/** Those that end, and those that return to the queue. */
function parted(stopped: readonly Stopped[]): readonly [readonly Stopped[], readonly Stopped[]] {
  const ends = ({ row }: Stopped): boolean => endsWhenLeft(stoppableOf(row))
  return [stopped.filter(ends), stopped.filter((one) => !ends(one))]
}

function stoppableOf(row: Stopped['row']): Stoppable {
  const { attached, cancel_deadline_at_ms: deadlineAt, cancellation_reason: reason, cancelled_by: actor } = row
  return { attached, stop: { deadlineAt, reason, actor, outcome: row.stop_outcome } }
}
