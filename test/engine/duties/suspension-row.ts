import type { ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import * as stored from '../../support/stored.ts'

/** The open suspension of an execution, or its last one. */
export async function suspensionOf(sql: Sql, executionId: ExecutionId): Promise<unknown> {
  const { closed_at_ms: closedAt, ...row } = await stored.suspensions.one(sql, { execution_id: executionId })
  return { ...row, is_open: closedAt === null }
}
