// Cancel ends an execution in its own transaction, leased or not: the next write of its holder is refused with the ending. With a
// grace, a running execution is asked to stop first: its holder is notified within a second, and may finish or clean up. It ends
// as cancelled when it would return to the queue, at the latest at the end of the grace.
import { cancel, type Cancelling, type CancelTerms } from '../../model/cancellation.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { PublicState } from '../../model/state.ts'
import { checkText, show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { checkFence, type Fence } from '../transition/fence.ts'
import { checkTarget, decidedSet, type Target } from '../transition/operator-set.ts'
import { asks, ends, type Transition } from '../transition/transitions.ts'
import type { HeldCancellation } from './cancel-held.ts'

export interface CancelRequest {
  readonly executionId: string
  readonly reason?: string
  /** How long a running execution may continue after the request to stop; without it, or with 0, it ends at once. */
  readonly grace?: Duration
  /**
   * How long an execution that has registered a compensation may take to clean up, also when it was waiting; defaults to `grace`,
   * else to 10 minutes. Others end at once, or after their grace.
   */
  readonly deadline?: Duration
  /** Ends it at once, without its compensations. */
  readonly force?: boolean
  /** The lease, if the holder itself cancels. The cancel then works only while the lease is valid, and at once. */
  readonly leaseId?: string
  readonly leaseEpoch?: number
}

export type CancelResult =
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId; readonly from: PublicState }
  /** It was cancelled before, and keeps the first reason. */
  | { readonly kind: 'already_cancelled'; readonly executionId: ExecutionId }
  /** Its holder was asked to stop. A second request keeps the earlier end of the grace and the first reason. */
  | { readonly kind: 'cancel_requested'; readonly executionId: ExecutionId; readonly deadlineAt: number }

/** A checked request. */
export interface Cancellation extends Target, CancelTerms {
  readonly reason: string | null
}

export function checkCancelRequest(caller: Caller, request: CancelRequest): Cancellation | HeldCancellation {
  refuseUnknownFields('cancel', request, cancelFields)
  const { executionId, leaseId, leaseEpoch, grace, deadline, force = false } = request
  if (typeof force !== 'boolean') throw refusal('invalid_input', 'force', show(force), 'true or false')
  const reason =
    request.reason === undefined ? null : checkText('reason', request.reason, { maxBytes: limits.reasonBytes })
  if (leaseId === undefined && leaseEpoch === undefined) {
    const graceMs = grace === undefined ? 0 : parseDuration('grace', grace)
    const deadlineMs = deadline === undefined ? null : parseDuration('deadline', deadline)
    return { ...checkTarget(caller, executionId), reason, graceMs, deadlineMs, isForced: force }
  }
  for (const field of ['grace', 'deadline', 'force'] as const) {
    if (request[field] === undefined) continue
    throw refusal('invalid_input', field, show(request[field]), 'omitted when you cancel with the lease')
  }
  return { ...checkFence(caller, request as Fence), reason }
}

const cancelFields = [
  'executionId',
  'reason',
  'grace',
  'deadline',
  'force',
  'leaseId',
  'leaseEpoch',
] as const satisfies readonly (keyof CancelRequest)[]

export function isByHolder(item: Cancellation | HeldCancellation): item is HeldCancellation {
  return 'leaseId' in item
}

/** `item` is a cancel; `execution` was read under the lock. */
export function cancelTransition(
  execution: LockedExecution,
  item: CancelTerms & { readonly reason: string | null; readonly actor: string },
): { readonly cancelling: Cancelling; readonly transition?: Transition } {
  const { reason, actor } = item
  const cancelling = cancel(execution, item)
  switch (cancelling.kind) {
    case 'none':
      return { cancelling }
    case 'ends':
      return {
        cancelling,
        transition: ends(execution, {
          outcome: 'cancelled',
          reason: reason ?? execution.stop?.reason ?? null,
          actor,
        }),
      }
    case 'asked': {
      const request = { outcome: null, reason, actor, until: cancelling.until }
      return cancelling.isNew ? { cancelling, transition: asks(execution, request) } : { cancelling }
    }
  }
}

export function cancelOperation(sql: Sql): SetOperation<Cancellation, CancelResult> {
  return decidedSet(sql, {
    reads: () => [],
    decide: (found) =>
      found.map(({ item, execution }) => {
        const { cancelling, transition } = cancelTransition(execution, item)
        return { answer: answerOf(item.executionId, execution.publicState, cancelling), transition }
      }),
  })
}

function answerOf(executionId: ExecutionId, state: PublicState, cancelling: Cancelling): CancelResult | EngineError {
  if (cancelling.kind === 'asked') return { kind: 'cancel_requested', executionId, deadlineAt: cancelling.until }
  if (cancelling.kind === 'ends') return { kind: 'cancelled', executionId, from: state }
  if (state === 'cancelled') return { kind: 'already_cancelled', executionId }
  return new EngineError(
    'execution_not_cancellable',
    `execution ${executionId} is ${state}; only a waiting, active or suspended execution can be cancelled`,
    { executionId, publicState: state },
  )
}
