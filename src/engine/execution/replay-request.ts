// The request and the result of `replay`, for executions and members of flows.
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { isEnded, type PublicState } from '../../model/state.ts'
import { checkStepIndex, checkStepName } from '../../model/step.ts'
import { checkText } from '../../model/text.ts'
import type { Caller } from '../kernel/caller.ts'
import { checkTarget, type Target } from '../transition/operator-set.ts'
import { checkRequestId, type Repeatable } from './request-memory.ts'

export interface ReplayRequest {
  readonly executionId: string
  readonly reason?: string
  /** The step to continue from: successes before it are kept. By its name; of several the first. */
  readonly from?: string | { readonly name: string; readonly index?: number }
  /** A call with the id of an earlier one returns its result; left out: each call acts by itself. */
  readonly requestId?: string
}

export interface Replayed {
  readonly kind: 'replayed'
  readonly executionId: ExecutionId
  readonly generation: number
  readonly replayCount: number
  readonly from: PublicState
  readonly deadlineAt: number | null
  /** The fixed deadline had passed and no longer applies. */
  readonly deadlineDropped: boolean
  /** For a member: the members that its ending had skipped, and that wait again. */
  readonly reopened?: readonly ExecutionId[]
}

export interface Replay extends Target, Repeatable {
  readonly reason: string | null
  readonly fromName: string | null
  readonly fromIndex: number
}

export function checkReplayRequest(caller: Caller, request: ReplayRequest): Replay {
  refuseUnknownFields('replay', request, ['executionId', 'reason', 'from', 'requestId'])
  const { executionId, reason, from, requestId } = request
  return {
    ...checkTarget(caller, executionId),
    ...checkRequestId(requestId),
    reason: reason === undefined ? null : checkText('reason', reason, { maxBytes: limits.reasonBytes }),
    ...checkFrom(from),
  }
}

function checkFrom(from: ReplayRequest['from']): Pick<Replay, 'fromName' | 'fromIndex'> {
  if (from === undefined) return { fromName: null, fromIndex: 0 }
  if (typeof from === 'string') return { fromName: checkStepName('from', from), fromIndex: 0 }
  refuseUnknownFields('from', from, ['name', 'index'])
  return {
    fromName: checkStepName('from.name', from.name),
    fromIndex: checkStepIndex('from.index', from.index ?? 0),
  }
}

/** The found execution that is to be replayed. */
export interface Replayable extends Omit<Replayed, 'kind' | 'reopened'> {
  readonly mostReplays: number
}

export function refusalOf({ executionId, from, replayCount, mostReplays }: Replayable): EngineError | null {
  if (!isEnded(from)) {
    const sentence = `execution ${executionId} is ${from}; only an execution that has ended can be replayed`
    return new EngineError('execution_not_terminal', sentence, { executionId, publicState: from })
  }
  if (replayCount >= mostReplays) {
    const sentence = `execution ${executionId} has been replayed ${replayCount} times, the maximum; create a new execution`
    return new EngineError('replay_limit', sentence, { executionId, replayCount })
  }
  return null
}

export function replayedAs(found: Replayable): Replayed {
  const { executionId, from, deadlineAt, deadlineDropped } = found
  const [generation, replayCount] = [found.generation + 1, found.replayCount + 1]
  return { kind: 'replayed', executionId, generation, replayCount, from, deadlineAt, deadlineDropped }
}

/** The result of an earlier call with the same request id. */
export function repeatedReplay(executionId: ExecutionId, kept: unknown): Replayed {
  return { kind: 'replayed', executionId, ...(kept as Omit<Replayed, 'kind' | 'executionId'>) }
}
