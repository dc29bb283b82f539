import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'
import { readNamespace } from '../kernel/read-namespace.ts'

export async function getNamespace(sql: Sql, caller: Caller, executionId: string): Promise<string | null> {
  const [row] = await sql.query(readNamespace, visibleExecution(caller, executionId))
  return row?.namespace ?? null
}
