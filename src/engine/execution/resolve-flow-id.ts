import { formatFlowId, type FlowId } from '../../model/id.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'

const readFlowId = statement({
  name: 'execution.resolve-flow-id',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { flow_id: 'uuid?' },
  text: `
select flow_id
from flowfabric.ff_exec_core
where execution_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)`,
})

/** The flow that it is a member of. A flow and its members share a partition. */
export async function resolveFlowId(sql: Sql, caller: Caller, executionId: string): Promise<FlowId | null> {
  const execution = visibleExecution(caller, executionId)
  const [row] = await sql.query(readFlowId, execution)
  if (row === undefined || row.flow_id === null) return null
  return formatFlowId(execution.partition_key, row.flow_id)
}
