// The request and the result of `replay`, for executions and members of flows.
import { EngineError } from '../../model/errors.ts'
import { checkedBy } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import type { ExecutionId } from '../../model/id.ts'
import { reason, stepIndex, stepName } from '../../model/named-fields.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { isEnded, type PublicState } from '../../model/state.ts'
import type { ItemOf } from '../kernel/set-request.ts'
import { operatorRequest } from '../transition/operator-request.ts'
import { mayRepeat, requestId } from './request-memory.ts'

export interface FromStep {
  readonly name: string
  readonly index: number
}

const from = checkedBy<string | { readonly name: string; readonly index?: number }, FromStep>(checkFrom, {
  kind: 'named',
  name: 'replayFrom',
})

export const replayRequest = operatorRequest(
  'replay',
  {
    reason: reason.optional(),
    /** The step to continue from: successes before it are kept. By its name; of several the first. */
    from: from.optional(),
    /** A call with the id of an earlier one returns its result; without an id, each call acts by itself. */
    requestId,
  },
  {
    fromName: { column: 'text', isNullable: true, from: ({ from }) => from?.name ?? null },
    fromIndex: { column: 'int4', from: ({ from }) => from?.index ?? 0 },
    mayRepeat,
  },
)

export interface ReplayRequest extends RequestOf<typeof replayRequest.fields> {}

export type Replay = ItemOf<typeof replayRequest>

function checkFrom(value: unknown): FromStep {
  if (typeof value === 'string') return { name: stepName.read('from', value, {}), index: 0 }
  refuseUnknownFields('from', value, ['name', 'index'])
  const { name, index = 0 } = value as Partial<FromStep>
  return { name: stepName.read('from.name', name, {}), index: stepIndex.read('from.index', index, {}) }
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

/** The execution to replay, as it was read. */
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
