import { parseExecutionId } from '../../model/id.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'

export const readNamespace = statement({
  name: 'execution.get-namespace',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { namespace: 'text' },
  text: `
select namespace
from flowfabric.ff_exec_core
where execution_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)`,
})

export async function getNamespace(sql: Sql, caller: Caller, executionId: string): Promise<string | null> {
  const { partition, uuid } = parseExecutionId(executionId)
  const [row] = await sql.query(readNamespace, {
    execution_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
  })
  return row?.namespace ?? null
}
