// The input of an execution, for its current generation.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'

export interface ExecutionInput {
  readonly payload: Uint8Array | null
  readonly encoding: string | null
}

const readInput = statement({
  name: 'execution.input',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { payload: 'bytea?', payload_encoding: 'text?' },
  text: `
select i.payload, i.payload_encoding
from flowfabric.ff_exec_core e
join flowfabric.ff_exec_input i on i.partition_key = e.partition_key and i.execution_id = e.execution_id
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)`,
})

export async function input(sql: Sql, caller: Caller, executionId: string): Promise<ExecutionInput | null> {
  const by = visibleExecution(caller, executionId)
  const [row] = await sql.query(readInput, by)
  return row === undefined ? null : { payload: row.payload, encoding: row.payload_encoding }
}
