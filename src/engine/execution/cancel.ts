// Cancel ends an execution in its own transaction, leased or not: the next write of its holder is refused with the ending. With a
// grace, a running execution is asked to stop first: its holder is notified within a second, and may finish or clean up. It ends
// as cancelled when it would return to the queue, at the latest at the end of the grace.
import { cancel, type Cancelling, type CancelTerms } from '../../model/cancellation.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { duration, flag } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { reason } from '../../model/named-fields.ts'
import type { PublicState } from '../../model/state.ts'
import { show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import type { SetOperation } from '../kernel/merge.ts'
import { checkFence, type Fence } from '../transition/fence.ts'
import { fenceFields } from '../transition/fenced-request.ts'
import { checkTarget, decidedSet, type Target } from '../transition/operator-set.ts'
import { asks, ends, type Transition } from '../transition/transitions.ts'
import type { HeldCancellation } from './cancel-held.ts'

export const cancelFields = {
  executionId: fenceFields.executionId,
  reason: reason.optional(),
  /** How long a running execution may continue after the request to stop; without it, or with 0, it ends at once. */
  grace: duration().default(0),
  /**
   * How long an execution that has registered a compensation may take to clean up, also when it was waiting; defaults to `grace`,
   * else to 10 minutes. Others end at once, or after their grace.
   */
  deadline: duration().optional(),
  /** Ends it at once, without its compensations. */
  force: flag().default(false),
  /** The lease, if the holder itself cancels. The cancel then works only while the lease is valid, and at once. */
  leaseId: fenceFields.leaseId.optional(),
  leaseEpoch: fenceFields.leaseEpoch.optional(),
}

export interface CancelRequest extends RequestOf<typeof cancelFields> {}

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
  const { reason, graceMs, deadlineMs, force } = checkFields('cancel', cancelFields, request)
  const { executionId, leaseId, leaseEpoch } = request
  if (leaseId === undefined && leaseEpoch === undefined) {
    return { ...checkTarget(caller, executionId), reason, graceMs, deadlineMs, isForced: force }
  }
  for (const field of ['grace', 'deadline', 'force'] as const) {
    if (request[field] === undefined) continue
    throw refusal('invalid_input', field, show(request[field]), 'omitted when you cancel with the lease')
  }
  return { ...checkFence(caller, request as Fence), reason }
}

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
