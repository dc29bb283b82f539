// Ids are minted here, before the first send, so that a create whose answer was lost can be sent again to any server: it finds
// what the first has done. A key does the same for those that have one.
import type { Fields } from '../api/call.ts'
import { mintExecutionId, mintFlowId, type ExecutionId, type FlowId } from '../model/id.ts'

type Mint = (fields: Fields) => Fields

const minted: Readonly<Record<string, Mint>> = {
  createExecution: withExecutionId,
  createFlow: withFlowId,
  submitFlowGraph: withFlowId,
  addFlowMember: (fields) => {
    const { execution, flowId } = fields
    if (typeof execution !== 'object' || execution === null) return fields
    const minted = withExecutionId(execution as Fields, flowId as FlowId)
    return minted === execution ? fields : { ...fields, execution: minted }
  },
}

export function mintIds(operationId: string, fields: Fields): Fields {
  return minted[operationId]?.(fields) ?? fields
}

function withExecutionId(fields: Fields, flowId?: FlowId): Fields {
  const { executionId, idempotencyKey, parentId } = fields
  if (executionId !== undefined || idempotencyKey !== undefined) return fields
  try {
    const within =
      flowId === undefined ? { ...(parentId !== undefined && { parentId: parentId as ExecutionId }) } : { flowId }
    return { ...fields, executionId: mintExecutionId(within) }
  } catch {
    // The id of the parent or the flow is no id, which is for the engine to say.
    return fields
  }
}

function withFlowId(fields: Fields): Fields {
  return fields['flowId'] === undefined ? { ...fields, flowId: mintFlowId() } : fields
}
