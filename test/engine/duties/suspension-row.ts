import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { rows } from '../../support/raw.ts'

/** The open suspension of an execution, or its last one. */
export async function suspensionOf(sql: Sql, executionId: ExecutionId): Promise<unknown> {
  const found = await rows(
    sql,
    `select closed_at_ms is null as is_open, close_reason, timeout_at_ms, wake_at_ms, escalated_at_ms, outcome
     from flowfabric.ff_suspension_current where execution_id = '${parseExecutionId(executionId).uuid}'`,
  )
  return found[0]
}
