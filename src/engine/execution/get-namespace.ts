import { parseExecutionId } from '../../model/id.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import { readNamespace } from '../kernel/read-namespace.ts'

export async function getNamespace(sql: Sql, caller: Caller, executionId: string): Promise<string | null> {
  const { partition, uuid } = parseExecutionId(executionId)
  const [row] = await sql.query(readNamespace, {
    execution_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
  })
  return row?.namespace ?? null
}
