// Mints ids before the first send, so that a create whose reply was lost can be sent again to any server: the object
// with its own id is the result of the first send, whatever the server reports.
import { randomUUID } from 'node:crypto'
import type { Fields } from '../api/call.ts'
import { mintExecutionId, mintFlowId, type ExecutionId, type FlowId } from '../model/id.ts'
import { clampPriority } from '../model/policy.ts'

export interface Minted {
  readonly fields: Fields
  /** Null: the request has an id already, or takes none. */
  readonly id: string | null
}

/** `namespace`: the one that the server uses for requests without a namespace; null while it is unknown. */
type Mint = (fields: Fields, namespace: string | null) => Minted

const minted: Readonly<Record<string, Mint>> = {
  createExecution: withExecutionId,
  revokeLease: withRequestId,
  resumeExecution: withRequestId,
  replayExecution: withRequestId,
  createFlow: withFlowId,
  submitFlowGraph: withFlowId,
  addFlowMember: (fields, namespace) => {
    const { execution, flowId } = fields
    if (typeof execution !== 'object' || execution === null) return { fields, id: null }
    const member = withExecutionId(execution as Fields, namespace, flowId as FlowId)
    return { fields: { ...fields, execution: member.fields }, id: member.id }
  },
}

export function mintIds(operationId: string, fields: Fields, namespace: string | null): Minted {
  return minted[operationId]?.(fields, namespace) ?? { fields, id: null }
}

// Its partition is that of its flow, its parent or its key, which is unique within a namespace.
function withExecutionId(fields: Fields, bound: string | null, flowId?: FlowId): Minted {
  const { executionId, idempotencyKey, parentId, namespace = bound } = fields
  if (executionId !== undefined) return { fields, id: null }
  const isWithin = flowId !== undefined || parentId !== undefined
  if (idempotencyKey !== undefined && !isWithin && namespace === null) return { fields, id: null }
  try {
    const id = mintExecutionId({
      ...(flowId !== undefined && { flowId }),
      ...(parentId !== undefined && { parentId: parentId as ExecutionId }),
      ...(namespace !== null && { namespace: namespace as string }),
      ...(idempotencyKey !== undefined && { idempotencyKey: idempotencyKey as string }),
    })
    return { fields: { ...fields, executionId: id }, id }
  } catch {
    // The id of the parent or the flow is malformed, which the engine reports.
    return { fields, id: null }
  }
}

function withFlowId(fields: Fields): Minted {
  if (fields['flowId'] !== undefined) return { fields, id: null }
  const id = mintFlowId()
  return { fields: { ...fields, flowId: id }, id }
}

/** Any server finds the result of the first send by this id. */
function withRequestId(fields: Fields): Minted {
  return { fields: { requestId: randomUUID(), ...defined(fields) }, id: null }
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

const foundAgain: readonly unknown[] = ['duplicate', 'already_member']

/** An object with an id that was minted for this very call is the result of the call, whose first reply was lost. */
export function asFirst(created: string | undefined, { fields, id }: Minted, answer: unknown): unknown {
  if (created === undefined || id === null) return answer
  const { kind, executionId, flowId } = answer as Fields
  if (!foundAgain.includes(kind)) return answer
  if (id !== executionId && id !== flowId) return answer
  return { ...(answer as object), kind: created, ...(id === executionId && adjustedOf(fields)) }
}

function adjustedOf({ priority: given }: Fields): object {
  if (typeof given !== 'number') return {}
  const { priority: used } = clampPriority(given)
  return used === given ? {} : { adjusted: { priority: { given, used } } }
}
