// The row that a caller names by its id, as the parameters of a statement. The statement compares all three: a row in another
// partition does not exist, and neither does a row of a namespace that the caller may not see.
import { parseExecutionId, parseFlowId } from '../../model/id.ts'
import type { Acting } from './caller.ts'

export function visibleExecution({ namespace }: Acting, executionId: string) {
  const { partition, uuid } = parseExecutionId(executionId)
  return { execution_id: uuid, partition_key: partition, namespace }
}

export function visibleFlow({ namespace }: Acting, flowId: string) {
  const { partition, uuid } = parseFlowId(flowId)
  return { flow_id: uuid, partition_key: partition, namespace }
}
